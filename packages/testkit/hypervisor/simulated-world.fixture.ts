import type { DiskFile, Hypervisor } from '@sheaf/ports';
import type { HypervisorWorld } from '@sheaf/ports/hypervisor/hypervisor.contract';
import { SeededRandom } from '../seeded-random.ts';
import { allTasks } from '../settle.ts';
import { TestClock } from '../test-clock.ts';
import { SimulatedHost, SimulatedHypervisor } from './index.ts';

/** A simulated host, and a clock that moves when the suite lets time pass. */
export class SimulatedWorld implements HypervisorWorld {
  readonly clock = new TestClock();
  readonly host: SimulatedHost;
  readonly guest = { kind: 'file', path: '/guest.bin' } as const;
  readonly bridge: NonNullable<HypervisorWorld['bridge']>;
  readonly #files = new Set<string>();
  readonly #outdated = new Set<string>();
  readonly #bases = new Map<string, string>();
  readonly #opened: SimulatedHypervisor[] = [];

  constructor(seed = 1) {
    this.host = new SimulatedHost({
      clock: this.clock,
      random: new SeededRandom(seed),
      hasFile: (path) => this.#files.has(path),
      mayWrite: (path) => Promise.resolve(!this.#outdated.has(path)),
      filesBeneath: (path) => this.#beneath(path),
      bridges: ['bridge'],
    });
    this.bridge = { name: 'bridge', ports: () => Promise.resolve(this.host.bridgePorts('bridge')) };
  }

  open(): Hypervisor {
    const hypervisor = new SimulatedHypervisor(this.host);
    this.#opened.push(hypervisor);
    return hypervisor;
  }

  makeDisk(name: string): Promise<DiskFile> {
    const path = `/${name}.qcow2`;
    this.#files.add(path);
    return Promise.resolve({ path, format: 'qcow2' });
  }

  async makeOverlay(name: string, base: DiskFile): Promise<DiskFile> {
    const overlay = await this.makeDisk(name);
    this.#bases.set(overlay.path, base.path);
    return overlay;
  }

  outdate({ path }: DiskFile): void {
    this.#outdated.add(path);
  }

  memoryPath(name: string): string {
    return `/${name}.memory`;
  }

  async pass(milliseconds: number): Promise<void> {
    await allTasks();
    this.clock.advance(milliseconds);
    await allTasks();
  }

  async type(id: string, keys: string): Promise<void> {
    const console = this.host.machines.get(id)?.process?.openConsole();
    await console?.write(new TextEncoder().encode(keys));
    console?.dispose();
  }

  async kill(processId: number): Promise<void> {
    this.host.killProcess(this.#machineOf(processId));
    return Promise.resolve();
  }

  async freeze(processId: number): Promise<void> {
    this.host.freezeProcess(this.#machineOf(processId));
    return Promise.resolve();
  }

  async thaw(processId: number): Promise<void> {
    this.host.thawProcess(this.#machineOf(processId));
    return Promise.resolve();
  }

  restartHost(): Promise<void> {
    for (const hypervisor of this.#opened) hypervisor.dispose();
    this.host.restart();
    return Promise.resolve();
  }

  processCount(id: string): Promise<number> {
    return Promise.resolve(this.host.machines.get(id)?.process ? 1 : 0);
  }

  traces(): Promise<readonly string[]> {
    const { machines, persistentKeys } = this.host;
    return Promise.resolve(
      [...machines.keys(), ...persistentKeys, ...this.host.bridgePorts('bridge')].toSorted(),
    );
  }

  #beneath(path: string): string[] {
    const base = this.#bases.get(path);
    return base === undefined ? [] : [base, ...this.#beneath(base)];
  }

  #machineOf(processId: number): string {
    for (const { spec, process } of this.host.machines.values())
      if (process?.pid === processId) return spec.id;
    throw new Error(`there is no process ${processId}`);
  }
}
