import { type Disposable, disposable, StatusError, sleep, toError } from '@sheaf/base';
import type {
  ByteStream,
  DiskFile,
  DiskLimits,
  Hypervisor,
  HypervisorCapabilities,
  MachineDisk,
  MachineNic,
  MachineObservation,
  MachineSpec,
  MemoryOrder,
  PortForward,
  Progress,
} from '@sheaf/ports';
import { setMemory, setSockets } from './capacity-changes.ts';
import type { ChangedMachine } from './device-changes.ts';
import { tapName } from './device-names.ts';
import { attachDisk, changeMedium, detachDisk, limitDrive, resizeDisk, switchDisks } from './disk-changes.ts';
import { resume } from './file-guard.ts';
import type { MachineHost } from './host.ts';
import type { HostProbe } from './host-probe.ts';
import type { Machine } from './machine.ts';
import type { MachineCatalog } from './machine-catalog.ts';
import { networkTool, preparePodNetwork } from './machine-start.ts';
import { askAgent, openPort, openScreen, openSerial, readSerialLog, screenshot } from './machine-streams.ts';
import { MemorySaves, refuseWhileSaving } from './memory-saves.ts';
import { attachNic, detachNic, setCarrier } from './nic-changes.ts';
import { ensureTap } from './tap-device.ts';
import { TaskQueue, untilAborted } from './task-queue.ts';

export interface QemuParts {
  readonly host: MachineHost;
  readonly catalog: MachineCatalog;
  readonly probe: HostProbe;
  readonly listeners: Set<(id: string) => void>;
}

/** Machines as QEMU processes; see docs/architecture/hypervisor.md. */
export class QemuHypervisor implements Hypervisor {
  readonly #parts: QemuParts;
  readonly #persistence = new TaskQueue();
  readonly #life = new AbortController();
  readonly #memories: MemorySaves;
  #opening: Promise<void> | undefined;
  #probing: Promise<void> | undefined;

  constructor(parts: QemuParts) {
    this.#parts = parts;
    this.#memories = new MemorySaves(parts.host, this.#life.signal);
  }

  dispose(): void {
    this.#life.abort(new Error('the driver has been disposed'));
    this.#parts.catalog.dispose();
    this.#parts.host.launcher.dispose();
    this.#parts.listeners.clear();
  }

  capabilities(): HypervisorCapabilities {
    return this.#parts.probe.capabilities();
  }

  async probe(signal: AbortSignal): Promise<HypervisorCapabilities> {
    return await this.#call(signal, async () => {
      // The first look that the others wait for is under way, or this one is it.
      const isFirst = this.#probing === undefined;
      await this.#probed();
      if (!isFirst) await this.#parts.probe.run({ isFresh: true });
      return this.capabilities();
    });
  }

  async list(signal: AbortSignal): Promise<readonly MachineObservation[]> {
    return await this.#call(signal, async () => {
      const machines = await this.#parts.catalog.all();
      const seen = await Promise.all(machines.map((machine) => machine.observe()));
      return seen.filter((observation) => observation !== undefined);
    });
  }

  async find(id: string, signal: AbortSignal): Promise<MachineObservation | undefined> {
    return await this.#call(signal, async () => this.#parts.catalog.find(id)?.observe());
  }

  onChange(listener: (id: string) => void): Disposable {
    const own = (id: string): void => listener(id);
    this.#parts.listeners.add(own);
    return disposable(() => this.#parts.listeners.delete(own));
  }

  async start(spec: MachineSpec, signal: AbortSignal): Promise<MachineObservation> {
    return await this.#inTurn(spec.id, signal, async (machine) => {
      await this.#probed();
      return await machine.start(spec);
    });
  }

  async resume(id: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(id, signal, async (machine) => {
      await refuseWhileSaving(machine.files, id);
      await resume(machine, this.#parts.host);
    });
  }

  async pause(id: string, signal: AbortSignal): Promise<void> {
    await this.#command(id, 'stop', signal);
  }

  async reset(id: string, signal: AbortSignal): Promise<void> {
    await this.#command(id, 'system_reset', signal);
  }

  async pressPowerButton(id: string, signal: AbortSignal): Promise<void> {
    await this.#command(id, 'system_powerdown', signal);
  }

  async end(id: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(id, signal, (machine) => machine.end());
  }

  async forget(id: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(id, signal, (machine) => this.#parts.catalog.remove(machine));
  }

  async forgetPersistent(key: string, signal: AbortSignal): Promise<void> {
    await this.#call(signal, () => this.#persistence.run(() => this.#forgetPersistentNow(key)));
  }

  async attachDisk(id: string, disk: MachineDisk, signal: AbortSignal): Promise<void> {
    await this.#change(id, signal, (machine) => attachDisk(machine, disk));
  }

  async detachDisk(id: string, name: string, signal: AbortSignal): Promise<void> {
    await this.#change(id, signal, (machine) => detachDisk(machine, name));
  }

  async changeMedium(
    id: string,
    change: { name: string; file: DiskFile | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#change(id, signal, (machine) => changeMedium(machine, change));
  }

  async resizeDisk(id: string, change: { name: string; bytes: number }, signal: AbortSignal): Promise<void> {
    await this.#change(id, signal, (machine) => resizeDisk(machine, change));
  }

  async limitDisk(
    id: string,
    change: { name: string; limits: DiskLimits },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#change(id, signal, ({ link }) => limitDrive(link, change.name, change.limits));
  }

  async attachNic(id: string, nic: MachineNic, signal: AbortSignal): Promise<void> {
    const { host } = this.#parts;
    await this.#change(id, signal, async (machine) => {
      await this.#probed();
      if (nic.link.kind === 'bridge')
        await ensureTap(networkTool(host), tapName(id, nic.name), nic.link.bridge);
      await attachNic(machine, nic, () => preparePodNetwork(this.#get(id).files, nic, host));
    });
  }

  async detachNic(id: string, name: string, signal: AbortSignal): Promise<void> {
    await this.#change(id, signal, (machine) => detachNic(machine, name));
  }

  async setCarrier(
    id: string,
    change: { name: string; carrier: 'up' | 'down' },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#change(id, signal, (machine) => setCarrier(machine, change));
  }

  async setSockets(id: string, sockets: number, signal: AbortSignal): Promise<void> {
    await this.#change(id, signal, (machine) => setSockets(machine, sockets));
  }

  async setMemory(id: string, bytes: number, signal: AbortSignal): Promise<void> {
    await this.#change(id, signal, (machine) => setMemory(machine, bytes));
  }

  async switchDisks(
    id: string,
    disks: readonly { readonly name: string; readonly overlay: DiskFile }[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#change(id, signal, (machine) => switchDisks(machine, disks));
  }

  async saveMemory(id: string, order: MemoryOrder, signal: AbortSignal): Promise<Progress> {
    return await this.#inTurn(id, signal, (machine) => this.#memories.save(machine, order));
  }

  async screenshot(id: string, signal: AbortSignal): Promise<Uint8Array> {
    return await this.#call(signal, () => screenshot(this.#get(id), this.#parts.host));
  }

  async openSerial(id: string, signal: AbortSignal): Promise<ByteStream> {
    return await this.#call(signal, () => openSerial(this.#get(id)));
  }

  async openScreen(id: string, signal: AbortSignal): Promise<ByteStream> {
    return await this.#call(signal, () => openScreen(this.#get(id)));
  }

  async readSerialLog(
    id: string,
    options: { readonly tailBytes: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    return await this.#call(signal, () => readSerialLog(this.#get(id), this.#parts.host, options.tailBytes));
  }

  async openPort(id: string, port: PortForward, signal: AbortSignal): Promise<ByteStream> {
    return await this.#inTurn(id, signal, (machine) => openPort(machine, this.#parts.host, port));
  }

  async askAgent(
    id: string,
    command: { readonly execute: string; readonly arguments?: unknown },
    signal: AbortSignal,
  ): Promise<unknown> {
    return await this.#call(signal, () => askAgent(this.#get(id), command));
  }

  #get(id: string): Machine {
    return this.#parts.catalog.get(id);
  }

  async #command(id: string, command: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(id, signal, async (machine) => {
      if (command !== 'system_powerdown') await refuseWhileSaving(machine.files, id);
      await machine.execute(command);
    });
  }

  async #change(
    id: string,
    signal: AbortSignal,
    change: (machine: ChangedMachine) => Promise<unknown>,
  ): Promise<void> {
    await this.#inTurn(id, signal, async (machine) => {
      await refuseWhileSaving(machine.files, id);
      await machine.whileAnswering(change);
      this.#announce(id);
    });
  }

  /** Changes of one machine follow one another. */
  async #inTurn<T>(id: string, signal: AbortSignal, task: (machine: Machine) => Promise<T>): Promise<T> {
    return await this.#call(signal, async () => {
      const machine = this.#get(id);
      return await machine.queue.run(() => task(machine));
    });
  }

  /** An aborted signal ends the waiting for the result. Looking at machines waits for no look at the host: it takes programs. */
  async #call<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    this.#life.signal.throwIfAborted();
    signal.throwIfAborted();
    this.#opening ??= this.#open();
    const result = this.#opening.then(() => {
      this.#life.signal.throwIfAborted();
      return task();
    });
    return await untilAborted(result, signal);
  }

  async #open(): Promise<void> {
    try {
      await this.#parts.catalog.prepare();
      void this.#beat();
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  /** Resolves when the host has been looked at. */
  async #probed(): Promise<void> {
    this.#probing ??= this.#parts.probe.run({ isFresh: false });
    try {
      await this.#probing;
    } catch (error) {
      this.#probing = undefined;
      throw error;
    }
  }

  /** Asks each machine from time to time whether it still answers. */
  async #beat(): Promise<void> {
    const { clock, limits, logger } = this.#parts.host;
    const { signal } = this.#life;
    while (!signal.aborted) {
      try {
        const machines = await this.#parts.catalog.all();
        await Promise.all(machines.map((machine) => machine.beat()));
      } catch (error) {
        logger.warn('The machines could not be asked how they are', { error: toError(error) });
      }
      await sleep(clock, limits.heartbeatMs, signal).catch(() => undefined);
    }
  }

  async #forgetPersistentNow(key: string): Promise<void> {
    for (const machine of await this.#parts.catalog.all()) {
      const record = await machine.files.readRecord();
      const seen = await machine.observe();
      const keys = [record?.spec.tpm?.persistentKey, efiKey(record?.spec)];
      if (seen && seen.state !== 'ended' && keys.includes(key))
        throw new StatusError({
          reason: 'Conflict',
          message: `machine ${machine.id} uses what is kept under ${key}: end it first`,
        });
    }
    await this.#parts.host.persistent.forget(key);
  }

  #announce(id: string): void {
    this.#parts.host.announce(id);
  }
}

function efiKey(spec: MachineSpec | undefined): string | undefined {
  return spec?.firmware.kind === 'efi' ? spec.firmware.persistentKey : undefined;
}
