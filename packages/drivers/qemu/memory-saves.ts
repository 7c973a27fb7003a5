import { existsSync } from 'node:fs';
import { StatusError, sleep, toError } from '@sheaf/base';
import type { MemoryOrder, Progress } from '@sheaf/ports';
import { diskId, nicId } from './device-names.ts';
import type { MachineHost } from './host.ts';
import type { Machine } from './machine.ts';
import { deviceIds, devicesPath } from './machine-facts.ts';
import type { MachineFiles, MachineRecord } from './machine-files.ts';
import type { MachineLink } from './machine-link.ts';
import { areSwitched, settleMemory } from './memory-settling.ts';
import { writeMemory } from './memory-writing.ts';
import { QmpError, QmpSilence } from './qmp-client.ts';

/** The machines whose memory is being kept by this life, and how far that is. */
export class MemorySaves {
  readonly #host: MachineHost;
  readonly #signal: AbortSignal;
  readonly #saves = new Map<string, Progress>();

  constructor(host: MachineHost, signal: AbortSignal) {
    this.#host = host;
    this.#signal = signal;
  }

  /** In the machine's turn. */
  async save(machine: Machine, order: MemoryOrder): Promise<Progress> {
    const { id } = machine;
    const known = this.#saves.get(id);
    if (known?.state === 'failed') this.#saves.delete(id);
    if (known) return known;
    const { link, record } = await machine.link();
    if (await areSwitched(link, order))
      return existsSync(order.path) ? { state: 'done' } : fault(disksWentOn);
    const obstacle = await obstacleOf(machine, link, record);
    if (obstacle !== undefined) return fault(obstacle);
    const begun: Progress = { state: 'working', percent: 0 };
    this.#saves.set(id, begun);
    await machine.files.updateNotes((notes) => ({ ...notes, memoryOrder: order }));
    void this.#run(machine, order);
    return begun;
  }

  async #run(machine: Machine, order: MemoryOrder): Promise<void> {
    const { id } = machine;
    const onPercent = (percent: number): void => {
      this.#saves.set(id, { state: 'working', percent });
    };
    try {
      const written = await this.#write(machine, order, onPercent);
      const settled = await this.#untilSettled(machine, order);
      const failure = written ?? settled;
      if (failure) throw failure;
      this.#saves.delete(id);
    } catch (thrown) {
      const error = toError(thrown);
      // What the program refuses it refuses again.
      const nature = error instanceof QmpError ? 'fault' : 'transient';
      this.#saves.set(id, { state: 'failed', message: error.message, nature });
      if (!this.#signal.aborted)
        this.#host.logger.warn('The memory of a machine could not be kept', { id, error });
    } finally {
      this.#host.announce(id);
    }
  }

  async #write(
    machine: Machine,
    order: MemoryOrder,
    onPercent: (percent: number) => void,
  ): Promise<Error | undefined> {
    try {
      const { link, record } = await machine.link();
      const written = { link, record, files: machine.files, host: this.#host };
      await writeMemory(written, order, { onPercent, signal: this.#signal });
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }

  /**
   * The guest stands until this has been done, so it is tried again whatever has come in between, as long as the machine is there.
   * Resolves to what came first.
   */
  async #untilSettled(machine: Machine, order: MemoryOrder): Promise<Error | undefined> {
    let first: Error | undefined;
    for (;;) {
      try {
        await machine.queue.run(() => this.#settle(machine, order));
        return first;
      } catch (error) {
        const isSilent = error instanceof QmpSilence || StatusError.is(error, 'ServerTimeout');
        if (!isSilent) first ??= toError(error);
        if (StatusError.is(error, 'Conflict') || StatusError.is(error, 'NotFound')) return first;
      }
      await sleep(this.#host.clock, this.#host.limits.heartbeatMs, this.#signal);
    }
  }

  async #settle(machine: Machine, order: MemoryOrder): Promise<void> {
    const { link, record } = await machine.link();
    const { files, mayWrite } = machine;
    await settleMemory({ link, spec: record.spec, files, mayWrite, clock: this.#host.clock }, order);
  }
}

const disksWentOn =
  'the disks of the machine went on without its memory being kept: keep it in another file, with other disks';

function fault(message: string): Progress {
  return { state: 'failed', message, nature: 'fault' };
}

async function obstacleOf(
  { id }: Machine,
  link: MachineLink,
  { spec }: MachineRecord,
): Promise<string | undefined> {
  const facts = await link.facts.read();
  if (facts.status !== 'running') return `machine ${id} does not run now (${facts.status}): resume it first`;
  const started = [
    ...spec.disks.map(({ name }) => diskId(name)),
    ...spec.nics.map(({ name }) => nicId(name)),
  ];
  const now = deviceIds(await link.execute('qom-list', { path: devicesPath })).filter((device) =>
    /^(disk|nic)-/.test(device),
  );
  const changed = [...new Set([...started, ...now])].filter(
    (device) => !started.includes(device) || !now.includes(device),
  );
  if (facts.sockets !== spec.cpu.sockets) changed.push('processors');
  if (facts.memoryBytes !== spec.memory.bytes) changed.push('memory');
  if (changed.length === 0) return undefined;
  return `machine ${id} has been changed since it was started (${changed.join(', ')}), so that no other could go on with its memory: restart it first`;
}

/** @throws StatusError while the memory of the machine is being kept */
export async function refuseWhileSaving(files: MachineFiles, id: string): Promise<void> {
  if (!(await files.readNotes()).memoryOrder) return;
  throw new StatusError({
    reason: 'Conflict',
    message: `the memory of machine ${id} is being kept: wait until that is done`,
  });
}
