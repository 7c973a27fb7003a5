import { type Disposable, disposable, sleep } from '@sheaf/base';
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
import { ByteQueue } from './byte-queue.ts';
import { beforeTheFirstLook, simulatedCapabilities } from './simulated-capabilities.ts';
import type { SimulatedHost } from './simulated-host.ts';
import { SimulatedLife } from './simulated-life.ts';
import { diskOf, endOfDeath, keysOf, newMachine } from './simulated-machine.ts';
import { SimulatedMachines } from './simulated-machines.ts';
import { obstacleToMemory, SimulatedMemories } from './simulated-memory.ts';
import { refusals } from './simulated-refusals.ts';
import { smallestPicture } from './smallest-picture.ts';

/**
 * One life of a driver on a simulated host; `dispose` is its death, between any two steps. It passes the contract suite of the
 * hypervisor.
 */
export class SimulatedHypervisor implements Hypervisor {
  readonly #host: SimulatedHost;
  readonly #listeners = new Set<(id: string) => void>();
  readonly #life: SimulatedLife;
  readonly #leave: () => void;
  readonly #memories: SimulatedMemories;
  readonly #machines: SimulatedMachines;
  #capabilities = beforeTheFirstLook();

  constructor(host: SimulatedHost) {
    this.#host = host;
    this.#life = new SimulatedLife(host);
    this.#memories = new SimulatedMemories(host, this.#life);
    this.#machines = new SimulatedMachines({ host, life: this.#life, memories: this.#memories });
    this.#leave = host.join((id) => this.#onChange(id));
  }

  dispose(): void {
    this.#life.dispose();
    this.#leave();
    this.#listeners.clear();
  }

  capabilities(): HypervisorCapabilities {
    return this.#capabilities;
  }

  async probe(signal: AbortSignal): Promise<HypervisorCapabilities> {
    return await this.#life.call('probe', signal, () => {
      this.#capabilities = simulatedCapabilities(this.#host.options.capabilities);
      return this.#capabilities;
    });
  }

  async list(signal: AbortSignal): Promise<readonly MachineObservation[]> {
    return await this.#life.call('list', signal, () =>
      [...this.#host.machines.values()]
        .map((machine) => this.#machines.observe(machine))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  }

  async find(id: string, signal: AbortSignal): Promise<MachineObservation | undefined> {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id)) throw refusals.badId(id);
    return await this.#life.call(`find ${id}`, signal, () => {
      const machine = this.#host.machines.get(id);
      return machine && this.#machines.observe(machine);
    });
  }

  onChange(listener: (id: string) => void): Disposable {
    const own = (id: string): void => listener(id);
    this.#listeners.add(own);
    return disposable(() => this.#listeners.delete(own));
  }

  async start(spec: MachineSpec, signal: AbortSignal): Promise<MachineObservation> {
    return await this.#life.call(`start ${spec.id}`, signal, () => this.#start(spec));
  }

  async resume(id: string, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, (running) => this.#machines.run(running));
  }

  async pause(id: string, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ process }) => process.guest.halt());
  }

  async reset(id: string, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ process }) => process.guest.boot());
  }

  async pressPowerButton(id: string, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ process }) => process.guest.pressPowerButton());
  }

  async end(id: string, signal: AbortSignal): Promise<void> {
    await this.#life.call(`end ${id}`, signal, async () => {
      const machine = this.#machines.get(id);
      if (this.#machines.observe(machine).state === 'ended') return;
      machine.end ??= { cause: 'stopped' };
      await this.#life.step('end-recorded', id);
      this.#machines.finish(machine, machine.end);
    });
  }

  async forget(id: string, signal: AbortSignal): Promise<void> {
    await this.#life.call(`forget ${id}`, signal, () => {
      const machine = this.#host.machines.get(id);
      if (!machine) return;
      const { state } = this.#machines.observe(machine);
      if (state !== 'ended') throw refusals.runs(id, state);
      this.#host.machines.delete(id);
      this.#host.agents.delete(id);
    });
  }

  async forgetPersistent(key: string, signal: AbortSignal): Promise<void> {
    await this.#life.call(`forget key ${key}`, signal, () => {
      for (const machine of this.#host.machines.values())
        if (keysOf(machine.spec).includes(key) && this.#machines.observe(machine).state !== 'ended')
          throw refusals.keyInUse(machine.spec.id, key);
      this.#host.persistentKeys.delete(key);
    });
  }

  async attachDisk(id: string, disk: MachineDisk, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, async ({ machine, process }) => {
      if (machine.leaving.has(`disk/${disk.name}`)) throw refusals.leaving(disk.name);
      if (process.disks.has(disk.name)) return;
      if (disk.bus === 'sata') throw refusals.coldBus(disk.name);
      await this.#machines.give({ machine, process }, [disk]);
    });
  }

  async detachDisk(id: string, name: string, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ machine, process }) => {
      const disk = process.disks.get(name);
      // Only what has a slot of its own needs the guest to let go.
      if (disk?.bus === 'virtio' && disk.device === 'disk') machine.leaving.add(`disk/${name}`);
      else process.disks.delete(name);
    });
  }

  async changeMedium(
    id: string,
    change: { name: string; file: DiskFile | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#machines.change(id, signal, async (running) => {
      const { process } = running;
      const { file: _, ...drive } = diskOf(process, change.name);
      process.disks.set(change.name, drive);
      if (change.file) await this.#machines.give(running, [{ ...drive, file: change.file }]);
    });
  }

  async resizeDisk(id: string, change: { name: string; bytes: number }, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ process }) => void diskOf(process, change.name));
  }

  async limitDisk(
    id: string,
    change: { name: string; limits: DiskLimits },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#machines.change(id, signal, ({ process }) => {
      process.disks.set(change.name, { ...diskOf(process, change.name), limits: change.limits });
    });
  }

  async attachNic(id: string, nic: MachineNic, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ machine, process }) => {
      if (machine.leaving.has(`nic/${nic.name}`)) throw refusals.leaving(nic.name);
      if (process.nics.has(nic.name)) return;
      this.#plug([nic]);
      process.addNic(nic);
    });
  }

  async detachNic(id: string, name: string, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ machine, process }) => {
      if (process.nics.has(name)) machine.leaving.add(`nic/${name}`);
    });
  }

  async setCarrier(
    id: string,
    change: { name: string; carrier: 'up' | 'down' },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#machines.change(id, signal, ({ process }) => {
      const nic = process.nics.get(change.name);
      if (!nic) throw refusals.noDevice(change.name);
      process.nics.set(change.name, { ...nic, carrier: change.carrier });
    });
  }

  async setSockets(id: string, sockets: number, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ machine, process }) => {
      const room = machine.spec.cpu.maxSockets ?? machine.spec.cpu.sockets;
      if (sockets > room) throw refusals.noRoom(`room for ${room} sockets`);
      process.sockets = Math.max(process.sockets, sockets);
    });
  }

  async setMemory(id: string, bytes: number, signal: AbortSignal): Promise<void> {
    await this.#machines.change(id, signal, ({ machine, process }) => {
      const room = machine.spec.memory.maxBytes ?? machine.spec.memory.bytes;
      if (bytes > room) throw refusals.noRoom(`room for ${room} bytes`);
      process.memoryBytes = Math.max(process.memoryBytes, bytes);
    });
  }

  async switchDisks(
    id: string,
    disks: readonly { readonly name: string; readonly overlay: DiskFile }[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#machines.change(id, signal, async (running) => {
      const { process } = running;
      const switched = disks
        .map(({ name, overlay }) => ({ ...diskOf(process, name), file: overlay }))
        .filter(({ name, file }) => process.disks.get(name)?.file?.path !== file.path);
      await this.#machines.give(running, switched);
    });
  }

  async saveMemory(id: string, order: MemoryOrder, signal: AbortSignal): Promise<Progress> {
    return await this.#machines.ask(id, signal, (running) => this.#memories.save(running, order));
  }

  async screenshot(id: string, signal: AbortSignal): Promise<Uint8Array> {
    return await this.#machines.ask(id, signal, ({ machine }) => {
      if (!machine.spec.hasGraphics) throw refusals.lacks(id, 'a screen');
      return smallestPicture();
    });
  }

  async openSerial(id: string, signal: AbortSignal): Promise<ByteStream> {
    return await this.#machines.ask(id, signal, ({ machine, process }) => {
      if (!machine.spec.hasSerialConsole) throw refusals.lacks(id, 'a serial console');
      return this.#mine(process.openConsole());
    });
  }

  async openScreen(id: string, signal: AbortSignal): Promise<ByteStream> {
    return await this.#machines.ask(id, signal, ({ machine }) => {
      if (!machine.spec.hasGraphics) throw refusals.lacks(id, 'a screen');
      const screen = new ByteQueue();
      screen.push(new TextEncoder().encode('RFB 003.008\n'));
      return this.#mine(screen);
    });
  }

  async readSerialLog(
    id: string,
    options: { readonly tailBytes: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    return await this.#life.call(`log ${id}`, signal, () =>
      new TextEncoder().encode(this.#machines.get(id).serialLog).slice(-options.tailBytes),
    );
  }

  async openPort(id: string, port: PortForward, signal: AbortSignal): Promise<ByteStream> {
    return await this.#machines.ask(id, signal, ({ process }) => {
      const nic = [...process.nics.values()].find(({ link }) => link.kind === 'user');
      if (!nic) throw refusals.lacks(id, 'a network card on the pod network');
      process.forward({ nic: nic.name, ...port });
      return this.#mine(new ByteQueue());
    });
  }

  async askAgent(
    id: string,
    command: { readonly execute: string; readonly arguments?: unknown },
    signal: AbortSignal,
  ): Promise<unknown> {
    return await this.#machines.ask(id, signal, async ({ machine }) => {
      if (!machine.spec.hasAgentChannel) throw refusals.lacks(id, 'a channel for a guest agent');
      const agent = this.#host.agents.get(id);
      if (!agent || !this.#machines.observe(machine).isAgentConnected) throw refusals.noAgent(id);
      return await agent(command);
    });
  }

  async #start(spec: MachineSpec): Promise<MachineObservation> {
    const host = this.#host;
    const machine = host.machines.get(spec.id) ?? newMachine(spec, host);
    const seen = this.#machines.observe(machine);
    if (seen.state !== 'starting') return seen;
    const obstacle = machine.wasLaunched ? undefined : obstacleToMemory(spec, host);
    if (obstacle !== undefined) throw new Error(obstacle);
    host.machines.set(spec.id, machine);
    machine.bootId = machine.wasLaunched ? machine.bootId : host.bootId;
    await this.#life.step('recorded', spec.id);
    for (const key of keysOf(spec)) host.persistentKeys.add(key);
    this.#plug(spec.nics);
    await this.#life.step('prepared', spec.id);
    host.launch(machine);
    await this.#life.step('launched', spec.id);
    const waitMs = machine.process?.untilReadyMs ?? 0;
    if (waitMs > 0) await sleep(host.clock, waitMs, this.#life.signal);
    await this.#life.step('answered', spec.id);
    host.announce(spec.id);
    return this.#machines.observe(machine);
  }

  #onChange(id: string): void {
    const machine = this.#host.machines.get(id);
    if (machine && (machine.unseenEnd || endOfDeath(machine, this.#host.bootId)) && !machine.end)
      this.#machines.observe(machine);
    for (const listener of this.#listeners) listener(id);
  }

  #plug(nics: readonly MachineNic[]): void {
    const bridge = this.#host.absentBridge(nics);
    if (bridge !== undefined)
      throw new Error(`there is no bridge ${bridge} on this host: create it, or name another one`);
  }

  /** Ends with this life. */
  #mine(stream: ByteQueue): ByteStream {
    this.#life.signal.addEventListener('abort', () => stream.dispose(), { once: true });
    return stream;
  }
}
