import { type ByteStream, type Disposable, disposable, sleep } from '@sheaf/base';
import type {
  AttachOrder,
  Capability,
  ContainerCapabilities,
  ContainerObservation,
  ContainerProcess,
  ContainerSpec,
  Containers,
  ContainerUsage,
  LogLine,
  LogSelection,
  ProcessOrder,
  SandboxObservation,
  SandboxSpec,
} from '@sheaf/ports';
import { SimulatedLife } from '../hypervisor/simulated-life.ts';
import type { SimulatedContainer } from './simulated-container.ts';
import type { SimulatedContainerHost } from './simulated-container-host.ts';
import { openSimulatedPort } from './simulated-port.ts';
import { containerRefusals as refusals } from './simulated-refusals.ts';
import { SimulatedSandbox } from './simulated-sandbox.ts';
import { SimulatedStops } from './simulated-stops.ts';

const available: Capability = { isAvailable: true, reason: 'simulated' };
const unknown: Capability = {
  isAvailable: false,
  reason: 'it has not been looked at yet',
  wayOut: 'wait for the first probe',
};
const logPollMs = 100;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;

/** A driver of containers on a simulated host. */
export class SimulatedContainers implements Containers {
  readonly #host: SimulatedContainerHost;
  readonly #life: SimulatedLife;
  readonly #stops: SimulatedStops;
  readonly #listeners = new Set<(sandboxId: string) => void>();
  readonly #living: Disposable;
  #capabilities: ContainerCapabilities = {
    containers: unknown,
    podNetwork: unknown,
    limits: unknown,
    seccomp: unknown,
  };

  constructor(host: SimulatedContainerHost) {
    this.#host = host;
    this.#life = new SimulatedLife(host);
    this.#stops = new SimulatedStops(host.clock, this.#life.signal);
    this.#living = host.live((id) => {
      for (const listener of this.#listeners) listener(id);
    });
  }

  dispose(): void {
    this.#life.dispose();
    this.#stops.dispose();
    this.#living.dispose();
    this.#listeners.clear();
  }

  capabilities(): ContainerCapabilities {
    return this.#capabilities;
  }

  async probe(signal: AbortSignal): Promise<ContainerCapabilities> {
    return await this.#life.call('probe', signal, () => {
      this.#capabilities = {
        containers: available,
        podNetwork: available,
        limits: available,
        seccomp: available,
        podSubnet: '10.42.0.0/24',
        engine: { version: 'simulated', runtime: 'simulated', storage: 'simulated' },
        ...this.#host.options.capabilities,
      };
      return this.#capabilities;
    });
  }

  onChange(listener: (sandboxId: string) => void): Disposable {
    const own = (id: string): void => listener(id);
    this.#listeners.add(own);
    return disposable(() => this.#listeners.delete(own));
  }

  async listSandboxes(signal: AbortSignal): Promise<readonly SandboxObservation[]> {
    return await this.#life.call('listSandboxes', signal, () =>
      sorted([...this.#host.sandboxes.values()].map((sandbox) => sandbox.observe())),
    );
  }

  async findSandbox(id: string, signal: AbortSignal): Promise<SandboxObservation | undefined> {
    return await this.#named('findSandbox', { id, signal }, () => this.#host.sandboxes.get(id)?.observe());
  }

  async startSandbox(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxObservation> {
    return await this.#named('startSandbox', { id: spec.id, signal }, async () => {
      const host = this.#host;
      if (!host.sandboxes.has(spec.id)) host.addSandbox(new SimulatedSandbox(spec, host.clock.now()));
      await this.#life.step('sandbox made', spec.id);
      const sandbox = this.#sandbox(spec.id);
      if (sandbox.state !== 'starting') return sandbox.observe();
      const port = host.takenPort(sandbox);
      if (port !== undefined) {
        host.removeSandbox(spec.id);
        throw refusals.portTaken(port);
      }
      sandbox.state = 'ready';
      if (spec.network.kind === 'pod') sandbox.address = host.freeAddress();
      host.announce(spec.id);
      await this.#life.step('sandbox started', spec.id);
      return sandbox.observe();
    });
  }

  async endSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#named('endSandbox', { id, signal }, async () => {
      this.#sandbox(id).close((container) => endNow(container));
      this.#host.announce(id);
      await this.#life.step('sandbox ended', id);
    });
  }

  async removeSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#named('removeSandbox', { id, signal }, async () => {
      const sandbox = this.#host.sandboxes.get(id);
      if (!sandbox) return;
      if (sandbox.state !== 'ended') throw refusals.sandboxRuns(id);
      this.#host.removeSandbox(id);
      this.#host.announce(id);
      await this.#life.step('sandbox removed', id);
    });
  }

  async listContainers(signal: AbortSignal): Promise<readonly ContainerObservation[]> {
    return await this.#life.call('listContainers', signal, () =>
      sorted([...this.#host.containers.values()].map((container) => container.observe())),
    );
  }

  async findContainer(id: string, signal: AbortSignal): Promise<ContainerObservation | undefined> {
    return await this.#named('findContainer', { id, signal }, () => this.#host.containers.get(id)?.observe());
  }

  async startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<ContainerObservation> {
    return await this.#named('startContainer', { id: spec.id, signal }, async () => {
      const known = this.#host.containers.get(spec.id);
      if (known && known.state !== 'starting') return known.observe();
      const sandbox = this.#sandbox(spec.sandboxId);
      if (sandbox.state === 'ended') throw refusals.sandboxEnded(spec.sandboxId);
      if (sandbox.state === 'starting') throw refusals.sandboxStarting(spec.sandboxId);
      if (!this.#host.images.has(spec.imageId)) throw refusals.noImage(spec.imageId);
      const target = spec.processesOf === undefined ? undefined : this.#running(spec.processesOf);
      const container = known ?? this.#host.addContainer(spec, sandbox);
      // The first process of a namespace takes all others with it.
      target?.whenEnded(() => container.process?.kill());
      await this.#life.step('container made', spec.id);
      if (container.state === 'starting') this.#launch(container);
      await this.#life.step('container started', spec.id);
      return container.observe();
    });
  }

  async stopContainer(id: string, options: { readonly graceMs: number }, signal: AbortSignal): Promise<void> {
    await this.#named('stopContainer', { id, signal }, () =>
      this.#stops.stop(this.#container(id), options.graceMs),
    );
  }

  async removeContainer(id: string, signal: AbortSignal): Promise<void> {
    await this.#named('removeContainer', { id, signal }, async () => {
      const container = this.#host.containers.get(id);
      if (!container) return;
      if (container.state === 'running') throw refusals.containerRuns(id);
      this.#host.removeContainer(id);
      this.#host.announce(container.spec.sandboxId);
      await this.#life.step('container removed', id);
    });
  }

  async *readLog(id: string, selection: LogSelection, signal: AbortSignal): AsyncGenerator<LogLine> {
    const lines = await this.#named('readLog', { id, signal }, () => this.#host.logs.get(id)?.lines);
    if (!lines) throw refusals.noContainer(id);
    const { since = 0, tailLines = lines.length } = selection;
    const isSelected = ({ time }: LogLine): boolean => Date.parse(time) >= since;
    for (let next = Math.max(0, lines.length - tailLines); !signal.aborted; ) {
      const isLast = selection.isFollowed !== true || this.#host.containers.get(id)?.state !== 'running';
      const found = lines.slice(next);
      next += found.length;
      yield* found.filter(isSelected);
      if (isLast) return;
      await sleep(this.#host.clock, logPollMs, signal).catch(() => undefined);
    }
  }

  async removeLog(id: string, signal: AbortSignal): Promise<void> {
    await this.#named('removeLog', { id, signal }, () => {
      if (this.#host.containers.has(id)) throw refusals.logInUse(id);
      this.#host.logs.delete(id);
    });
  }

  async execute(id: string, order: ProcessOrder, signal: AbortSignal): Promise<ContainerProcess> {
    return await this.#named('execute', { id, signal }, () => {
      const container = this.#running(id);
      const failure = this.#host.faults.executeFailure(order);
      if (failure !== undefined) throw refusals.commandFailed(failure);
      return container.execute(order);
    });
  }

  async attach(id: string, order: AttachOrder, signal: AbortSignal): Promise<ContainerProcess> {
    return await this.#named('attach', { id, signal }, () => this.#running(id).attach(order));
  }

  async openPort(id: string, { port }: { readonly port: number }, signal: AbortSignal): Promise<ByteStream> {
    return await this.#named('openPort', { id, signal }, () => openSimulatedPort(this.#sandbox(id), port));
  }

  async readUsage(signal: AbortSignal): Promise<readonly ContainerUsage[]> {
    return await this.#life.call('readUsage', signal, () => {
      const running = [...this.#host.containers.values()].filter(({ state }) => state === 'running');
      return running.map((container) => ({
        containerId: container.spec.id,
        sandboxId: container.spec.sandboxId,
        at: this.#host.clock.now(),
        cpuNanoseconds: 1 + (this.#host.clock.now() - (container.startedAt ?? 0)) * 1000,
        memoryBytes: 2 * 1024 * 1024,
        workingSetBytes: 1024 * 1024,
        processCount: container.processCount,
      }));
    });
  }

  #launch(container: SimulatedContainer): void {
    const failure = this.#host.faults.startFailure(container.spec);
    if (failure === undefined) container.start();
    else container.finish({ cause: 'start-failed', message: failure });
  }

  #sandbox(id: string): SimulatedSandbox {
    const sandbox = this.#host.sandboxes.get(id);
    if (!sandbox) throw refusals.noSandbox(id);
    return sandbox;
  }

  #container(id: string): SimulatedContainer {
    const container = this.#host.containers.get(id);
    if (!container) throw refusals.noContainer(id);
    return container;
  }

  #running(id: string): SimulatedContainer {
    const container = this.#container(id);
    if (container.state !== 'running') throw refusals.notRunning(id);
    return container;
  }

  async #named<T>(
    step: string,
    { id, signal }: { readonly id: string; readonly signal: AbortSignal },
    task: () => T | Promise<T>,
  ): Promise<T> {
    if (!idPattern.test(id)) throw refusals.badId(id);
    return await this.#life.call(step, signal, task);
  }
}

function endNow(container: SimulatedContainer): void {
  if (container.state === 'running') container.finish({ cause: 'exited', exitCode: 137 });
  else container.finish({ cause: 'start-failed', message: 'its sandbox was ended before it started' });
}

function sorted<T extends { readonly id: string }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
