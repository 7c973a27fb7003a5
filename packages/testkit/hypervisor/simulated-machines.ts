import { sleep } from '@sheaf/base';
import type { MachineDisk, MachineEnd, MachineObservation } from '@sheaf/ports';
import type { SimulatedHost, SimulatedMachine } from './simulated-host.ts';
import type { SimulatedLife } from './simulated-life.ts';
import { endOfDeath } from './simulated-machine.ts';
import type { SimulatedMemories } from './simulated-memory.ts';
import { observationOf } from './simulated-observation.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { refusals } from './simulated-refusals.ts';

/** A machine that runs, and its process. */
export interface Running {
  readonly machine: SimulatedMachine;
  readonly process: SimulatedProcess;
}

interface Parts {
  readonly host: SimulatedHost;
  readonly life: SimulatedLife;
  readonly memories: SimulatedMemories;
}

/** The machines of a host as one life of a driver finds, asks, changes and ends them. */
export class SimulatedMachines {
  readonly #host: SimulatedHost;
  readonly #life: SimulatedLife;
  readonly #memories: SimulatedMemories;
  /** The last change of each machine. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor({ host, life, memories }: Parts) {
    this.#host = host;
    this.#life = life;
    this.#memories = memories;
  }

  get(id: string): SimulatedMachine {
    const machine = this.#host.machines.get(id);
    if (!machine) throw refusals.absent(id);
    return machine;
  }

  /** How it is now; what has ended is brought to its end on the way. */
  observe(machine: SimulatedMachine): MachineObservation {
    if (machine.process?.untilReadyMs === 0) machine.wasReady = true;
    const end = machine.end ?? machine.unseenEnd ?? endOfDeath(machine, this.#host.bootId);
    if (end) this.finish(machine, end);
    return this.#memories.seenWith(observationOf(machine, this.#host.agents.has(machine.spec.id)));
  }

  finish(machine: SimulatedMachine, end: MachineEnd): void {
    const isNews = machine.process !== undefined || machine.end === undefined;
    machine.end ??= end;
    machine.unseenEnd = undefined;
    machine.process?.end();
    machine.process = undefined;
    if (isNews) this.#host.announce(machine.spec.id);
  }

  /** Lets the processors run, if the machine may write to all that it has opened for it; ends it otherwise. */
  async run({ machine, process }: Running): Promise<void> {
    for (const disk of process.disks.values()) {
      if (await this.#mayWrite(machine, disk)) continue;
      const message = refusals.startedOutdated(machine.spec.id, disk.name);
      this.finish(machine, { cause: 'start-failed', message: message.message });
      throw message;
    }
    if (machine.process !== process) throw refusals.notRunning(machine.spec.id);
    process.guest.run();
  }

  /** Opens files behind no disk yet, and asks whether they may be written to; then the guest sees them, all or none. */
  async give({ machine, process }: Running, disks: readonly MachineDisk[]): Promise<void> {
    const refusal = this.#host.refusal(machine.spec.id, disks);
    if (refusal) throw refusal;
    for (const disk of disks) process.opened.add(disk);
    try {
      for (const disk of disks)
        if (!(await this.#mayWrite(machine, disk))) throw refusals.outdated(disk.name);
      if (machine.process !== process) throw refusals.notRunning(machine.spec.id);
      for (const disk of disks) process.disks.set(disk.name, disk);
    } finally {
      if (!this.#life.signal.aborted) for (const disk of disks) process.opened.delete(disk);
    }
  }

  async change(
    id: string,
    signal: AbortSignal,
    change: (running: Running) => void | Promise<void>,
  ): Promise<void> {
    await this.ask(id, signal, (running) =>
      this.#inTurn(id, async () => {
        if (running.machine.process !== running.process) throw refusals.notRunning(id);
        this.#memories.refuse(id);
        await change(running);
        this.#host.announce(id);
      }),
    );
  }

  async #inTurn(id: string, task: () => Promise<void>): Promise<void> {
    const result = (this.#turns.get(id) ?? Promise.resolve()).then(task);
    this.#turns.set(
      id,
      result.catch(() => undefined),
    );
    await result;
  }

  /** Something that only a machine that runs and answers can do. */
  async ask<T>(id: string, signal: AbortSignal, task: (running: Running) => T | Promise<T>): Promise<T> {
    return await this.#life.call(`ask ${id}`, signal, async () => {
      const machine = this.get(id);
      const { state } = this.observe(machine);
      const { process } = machine;
      if (state === 'unresponsive') {
        if (this.#host.faults.answerMs > 0)
          await sleep(this.#host.clock, this.#host.faults.answerMs, this.#life.signal);
        throw refusals.silent(id);
      }
      if (!process || state === 'starting') throw refusals.notRunning(id);
      return await task({ machine, process });
    });
  }

  /** As the real driver asks, when it has the file open, and its lock. */
  async #mayWrite({ spec }: SimulatedMachine, { file, isReadOnly, device }: MachineDisk): Promise<boolean> {
    const { mayWrite } = this.#host.options;
    if (!mayWrite || !file || isReadOnly === true || device === 'cdrom') return true;
    await this.#life.step('files-open', spec.id);
    return await mayWrite(file.path);
  }
}
