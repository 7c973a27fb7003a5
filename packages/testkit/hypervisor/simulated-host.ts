import type { Clock, Random } from '@sheaf/base';
import type { HypervisorCapabilities, MachineDisk, MachineEnd, MachineNic, MachineSpec } from '@sheaf/ports';
import { areInConflict, type OpenedDisk } from './file-locks.ts';
import { copyOf, type SimulatedMemory } from './simulated-memory.ts';
import { type ProcessHost, SimulatedProcess } from './simulated-process.ts';
import { refusals } from './simulated-refusals.ts';

/** What is on the disk of the host about one machine. */
export interface SimulatedMachine {
  readonly spec: MachineSpec;
  readonly startedAt: number;
  bootId: number;
  /** It was launched before: never again. */
  wasLaunched: boolean;
  wasReady: boolean;
  process: SimulatedProcess | undefined;
  end: MachineEnd | undefined;
  /** A cause that no driver has seen yet; its process stays until one does. */
  unseenEnd: MachineEnd | undefined;
  guestResets: number;
  readonly leaving: Set<string>;
  serialLog: string;
}

/** The guest agent of a machine: answers a command, or throws what it refuses. */
export type SimulatedAgent = (command: { readonly execute: string; readonly arguments?: unknown }) => unknown;

export interface SimulatedHostOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a file can be opened; all can, if absent. */
  readonly hasFile?: (path: string) => boolean;
  /** The files that a file lies on, which are open with it; none, if absent. */
  readonly filesBeneath?: (path: string) => readonly string[];
  /** Whether who has a file open for writing may write to it; all may, if absent. */
  readonly mayWrite?: (path: string) => Promise<boolean>;
  readonly bridges?: readonly string[];
  readonly capabilities?: Partial<HypervisorCapabilities>;
}

/** What goes wrong, and when; changed while it runs. */
export interface HypervisorFaults {
  /** Each step of a call takes a time up to this, as the seed decides; so calls overtake each other. */
  longestStepMs: number;
  /** Time from the launch of a process to its first answer. */
  startMs: number;
  /** How long a call waits for a process that does not answer. */
  answerMs: number;
  /** Words of the program when a machine is launched; `undefined` where it starts. */
  startFailure: (spec: MachineSpec) => string | undefined;
  /** Files are opened whoever has them open. */
  ignoresLocks: boolean;
  /** Called between the steps of each call; a driver that is disposed here has died between these steps. */
  onStep: (step: string, id: string) => void;
}

/**
 * The host under simulated drivers: what they start outlives them. Its own methods are what happens to machines by themselves, or
 * by someone else's hand. Time is the injected clock's.
 */
export class SimulatedHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly machines = new Map<string, SimulatedMachine>();
  readonly persistentKeys = new Set<string>();
  readonly agents = new Map<string, SimulatedAgent>();
  /** By the paths of their files. */
  readonly memories = new Map<string, SimulatedMemory>();
  readonly options: SimulatedHostOptions;
  readonly faults: HypervisorFaults = {
    longestStepMs: 0,
    startMs: 0,
    answerMs: 0,
    startFailure: () => undefined,
    ignoresLocks: false,
    onStep: () => undefined,
  };
  bootId = 1;
  readonly #lives = new Set<(id: string) => void>();
  #lastPid = 1000;
  #lastPort = 40_000;

  constructor(options: SimulatedHostOptions) {
    this.options = options;
    this.clock = options.clock;
    this.random = options.random;
  }

  /** A driver lives until the returned function is called. What another one left open behind no disk it closes. */
  join(onChange: (id: string) => void): () => void {
    for (const { process } of this.machines.values()) process?.opened.clear();
    this.#lives.add(onChange);
    return () => this.#lives.delete(onChange);
  }

  /** Starts the one process of a machine; a second call finds it. What the program refuses ends the machine. */
  launch(machine: SimulatedMachine): void {
    if (machine.wasLaunched) return;
    machine.wasLaunched = true;
    const { spec } = machine;
    const refusal = this.faults.startFailure(spec) ?? this.refusal(spec.id, spec.disks)?.message;
    if (refusal !== undefined) {
      machine.end = { cause: 'start-failed', message: refusal };
      return;
    }
    machine.process = new SimulatedProcess(++this.#lastPid, { spec, host: this.#hostOf(machine) });
    const memory = this.memories.get(spec.memoryPath ?? '');
    if (memory) machine.process.guest.takeOver(memory.guest);
  }

  /** Goes on as another host would that no driver uses any more; this one's clock shows the same time. */
  takeOver(other: SimulatedHost): void {
    this.bootId = other.bootId;
    for (const key of other.persistentKeys) this.persistentKeys.add(key);
    for (const [path, memory] of other.memories) this.memories.set(path, copyOf(memory, this.clock));
    for (const [id, { process, ...rest }] of other.machines) {
      const machine: SimulatedMachine = { ...rest, leaving: new Set(rest.leaving), process: undefined };
      machine.process = process?.copy({ spec: machine.spec, host: this.#hostOf(machine) });
      machine.serialLog = rest.serialLog;
      this.machines.set(id, machine);
    }
    this.#lastPid = other.#lastPid;
    this.#lastPort = other.#lastPort;
  }

  #hostOf(machine: SimulatedMachine): ProcessHost {
    return {
      clock: this.clock,
      startMs: this.faults.startMs,
      freePort: () => ++this.#lastPort,
      onChange: (end) => this.#onGuest(machine, end),
      onReset: () => {
        machine.guestResets++;
        this.announce(machine.spec.id);
      },
      onLetGo: () => this.#letGo(machine),
      log: (text) => {
        machine.serialLog += text;
      },
    };
  }

  /** Why a machine cannot open these disks, in the program's manner; `undefined` if it can. */
  refusal(id: string, disks: readonly MachineDisk[]): Error | undefined {
    for (const disk of disks) {
      const path = disk.file?.path;
      if (path === undefined) continue;
      if (this.options.hasFile?.(path) === false)
        return new Error(`Could not open '${path}': No such file or directory`);
      const owner = this.faults.ignoresLocks ? undefined : this.#ownerOf(id, this.#opened(disk, path));
      if (owner !== undefined) return refusals.inUse(path, owner);
    }
    return undefined;
  }

  killProcess(id: string): void {
    const machine = this.machines.get(id);
    if (!machine?.process) return;
    machine.process.end();
    machine.process = undefined;
    this.announce(id);
  }

  shutDownGuest(id: string): void {
    this.#happen(id, { cause: 'guest-shutdown' });
  }

  panicGuest(id: string, message = 'the guest reported a panic'): void {
    this.#happen(id, { cause: 'guest-panicked', message });
  }

  freezeProcess(id: string): void {
    this.machines.get(id)?.process?.freeze();
    this.announce(id);
  }

  thawProcess(id: string): void {
    this.machines.get(id)?.process?.thaw();
    this.announce(id);
  }

  /** Installs a guest agent, or stops it. */
  setAgent(id: string, agent: SimulatedAgent | undefined): void {
    if (agent) this.agents.set(id, agent);
    else this.agents.delete(id);
    this.announce(id);
  }

  /** All processes end without a word. Drivers of before must not be used any more. */
  restart(): void {
    this.bootId++;
    for (const machine of this.machines.values()) {
      machine.process?.end();
      machine.process = undefined;
    }
  }

  bridgePorts(bridge: string): string[] {
    return [...this.machines.values()].flatMap(({ spec, process }) =>
      [...(process?.nics.values() ?? [])]
        .filter(({ link }) => link.kind === 'bridge' && link.bridge === bridge)
        .map(({ name }) => `${spec.id}/${name}`),
    );
  }

  /** A card's bridge that is not there. */
  absentBridge(nics: readonly MachineNic[]): string | undefined {
    const { bridges = [] } = this.options;
    return nics
      .flatMap(({ link }) => (link.kind === 'bridge' ? link.bridge : []))
      .find((name) => !bridges.includes(name));
  }

  announce(id: string): void {
    for (const life of this.#lives) life(id);
  }

  #happen(id: string, end: MachineEnd): void {
    const machine = this.machines.get(id);
    if (machine?.process) this.#onGuest(machine, end);
  }

  #onGuest(machine: SimulatedMachine, end: MachineEnd | undefined): void {
    if (end) {
      machine.process?.guest.halt();
      machine.unseenEnd ??= end;
    }
    this.announce(machine.spec.id);
  }

  #letGo(machine: SimulatedMachine): void {
    for (const device of machine.leaving) {
      const [kind, name = ''] = device.split('/');
      if (kind === 'disk') machine.process?.disks.delete(name);
      else machine.process?.removeNic(name);
    }
    machine.leaving.clear();
    this.announce(machine.spec.id);
  }

  /** What a machine has open as the same disk already is no obstacle: it goes on from it. */
  #ownerOf(id: string, opened: OpenedDisk): string | undefined {
    for (const { spec, process } of this.machines.values())
      for (const disk of process?.openDisks ?? []) {
        const isItself = spec.id === id && disk.name === opened.disk.name;
        if (disk.file && !isItself && areInConflict(opened, this.#opened(disk, disk.file.path)))
          return spec.title;
      }
    return undefined;
  }

  #opened(disk: MachineDisk, path: string): OpenedDisk {
    return { disk, paths: [path, ...(this.options.filesBeneath?.(path) ?? [])] };
  }
}
