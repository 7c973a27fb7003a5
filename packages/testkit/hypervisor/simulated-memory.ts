import { type Clock, sleep, toError } from '@sheaf/base';
import type { MachineObservation, MachineSpec, MemoryOrder, Progress } from '@sheaf/ports';
import { SimulatedGuest } from './simulated-guest.ts';
import type { SimulatedHost, SimulatedMachine } from './simulated-host.ts';
import type { SimulatedLife } from './simulated-life.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { refusals } from './simulated-refusals.ts';

/** What a file with the memory of a machine holds. */
export interface SimulatedMemory {
  readonly guest: SimulatedGuest;
  readonly layout: Readonly<Record<string, string>>;
}

interface Running {
  readonly machine: SimulatedMachine;
  readonly process: SimulatedProcess;
}

/** How long writing takes. */
const writeMs = 20;

/** The machines whose memory is being kept by one life. All that is to be of one moment happens in one step. */
export class SimulatedMemories {
  readonly #host: SimulatedHost;
  readonly #life: SimulatedLife;
  readonly #saves = new Map<string, Progress>();

  constructor(host: SimulatedHost, life: SimulatedLife) {
    this.#host = host;
    this.#life = life;
  }

  save({ machine, process }: Running, order: MemoryOrder): Progress {
    const { id } = machine.spec;
    const known = this.#saves.get(id);
    if (known?.state === 'failed') this.#saves.delete(id);
    if (known) return known;
    if (areSwitched(process, order)) return this.#whatWasKept(order);
    const obstacle = obstacleOf({ machine, process });
    if (obstacle !== undefined) return fault(obstacle);
    const begun: Progress = { state: 'working', percent: 50 };
    this.#saves.set(id, begun);
    void this.#run(machine, order);
    return begun;
  }

  /** @throws StatusError while the memory of the machine is being kept */
  refuse(id: string): void {
    if (this.#saves.get(id)?.state === 'working') throw refusals.memoryBeingKept(id);
  }

  seenWith(observation: MachineObservation): MachineObservation {
    const isWorking = this.#saves.get(observation.id)?.state === 'working';
    return isWorking ? { ...observation, isMemoryBeingKept: true } : observation;
  }

  #whatWasKept({ path }: MemoryOrder): Progress {
    return this.#host.memories.has(path)
      ? { state: 'done' }
      : fault('the disks of the machine went on without its memory being kept: keep it in another file');
  }

  async #run(machine: SimulatedMachine, order: MemoryOrder): Promise<void> {
    const { id } = machine.spec;
    try {
      await sleep(this.#host.clock, writeMs, this.#life.signal);
      await this.#life.step('memory-written', id);
      this.#keep(machine, order);
      this.#saves.delete(id);
    } catch (error) {
      this.#saves.set(id, { state: 'failed', message: toError(error).message, nature: 'transient' });
    }
    this.#host.announce(id);
  }

  #keep({ spec, process }: SimulatedMachine, { path, disks }: MemoryOrder): void {
    if (!process) throw refusals.notRunning(spec.id);
    const switched = disks.map(({ name, overlay }) => ({ name, overlay, disk: process.disks.get(name) }));
    for (const { name, disk } of switched) if (!disk) throw refusals.noDevice(name);
    const guest = standing(process.guest, this.#host.clock);
    this.#host.memories.set(path, { guest, layout: layoutOf(spec) });
    for (const { name, overlay, disk } of switched)
      if (disk) process.disks.set(name, { ...disk, file: overlay });
  }
}

/** Why a machine cannot go on with what was kept; `undefined`: it can, or is to boot. */
export function obstacleToMemory(spec: MachineSpec, host: SimulatedHost): string | undefined {
  if (spec.memoryPath === undefined) return undefined;
  const memory = host.memories.get(spec.memoryPath);
  const now = layoutOf(spec);
  const changed = Object.keys(now).filter((name) => memory?.layout[name] !== now[name]);
  if (memory && changed.length === 0) return undefined;
  const obstacle = memory
    ? `the machine has changed since: ${changed.join(', ')}`
    : 'it is not there any more';
  return `${spec.title} cannot go on with the memory that was kept: ${obstacle}; start it without what was kept`;
}

/** The same guest, on a host whose clock shows the same time. */
export function copyOf({ guest, layout }: SimulatedMemory, clock: Clock): SimulatedMemory {
  return { guest: standing(guest, clock), layout };
}

function standing(guest: SimulatedGuest, clock: Clock): SimulatedGuest {
  const nothing = (): void => undefined;
  const kept = new SimulatedGuest(clock, {
    print: nothing,
    powerOff: nothing,
    panic: nothing,
    reset: nothing,
    letGo: nothing,
  });
  kept.takeOver(guest);
  kept.halt();
  return kept;
}

function layoutOf({ cpu, memory, disks, nics }: MachineSpec): Readonly<Record<string, string>> {
  return {
    cpu: JSON.stringify(cpu),
    'memory.bytes': String(memory.bytes),
    disks: JSON.stringify(disks.map(({ name, device, bus }) => [name, device, bus])),
    nics: JSON.stringify(nics.map(({ name, mac }) => [name, mac])),
  };
}

function areSwitched({ disks }: SimulatedProcess, order: MemoryOrder): boolean {
  return order.disks.every(({ name, overlay }) => disks.get(name)?.file?.path === overlay.path);
}

function obstacleOf({ machine: { spec }, process }: Running): string | undefined {
  if (!process.guest.isRunning) return `machine ${spec.id} does not run now: resume it first`;
  const started = new Set([...spec.disks, ...spec.nics].map(({ name }) => name));
  const now = new Set([...process.disks.keys(), ...process.nics.keys()]);
  const changed = [...started.symmetricDifference(now)];
  if (process.sockets !== spec.cpu.sockets) changed.push('processors');
  if (process.memoryBytes !== spec.memory.bytes) changed.push('memory');
  if (changed.length === 0) return undefined;
  return `machine ${spec.id} has been changed since it was started (${changed.join(', ')}): restart it first`;
}

function fault(message: string): Progress {
  return { state: 'failed', message, nature: 'fault' };
}
