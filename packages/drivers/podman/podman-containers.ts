import { rm } from 'node:fs/promises';
import type { ByteStream, Disposable } from '@sheaf/base';
import type {
  AttachOrder,
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
import { untilAborted } from '../qemu/task-queue.ts';
import { attach, execute } from './container-processes.ts';
import { ContainerRuns } from './container-runs.ts';
import { ContainerStops } from './container-stops.ts';
import { EndWatch } from './end-watch.ts';
import {
  containerObservation,
  isRunning,
  type SeenContainer,
  sandboxObservation,
} from './engine-containers.ts';
import { type EngineRole, engineName } from './engine-names.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { logDirectory } from './log-files.ts';
import { readLog } from './log-reader.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { connectPort } from './port-connection.ts';
import { PortConnectors } from './port-connectors.ts';
import { refusals } from './refusals.ts';
import { Sandboxes } from './sandboxes.ts';
import { readGroupUsage } from './usage.ts';

interface NamedCall {
  readonly role: EngineRole;
  readonly id: string;
  readonly signal: AbortSignal;
}

/** Containers of podman; see docs/architecture/containers.md. */
export class PodmanContainers implements Containers {
  readonly #engine: PodmanEngine;
  readonly #sandboxes: Sandboxes;
  readonly #runs: ContainerRuns;
  readonly #stops: ContainerStops;
  readonly #ports: PortConnectors;
  readonly #queue = new KeyedQueue();

  constructor(engine: PodmanEngine) {
    this.#engine = engine;
    const { clock, limits } = engine.parts;
    this.#ports = new PortConnectors({ clock, limitMs: limits.answerMs });
    this.#sandboxes = new Sandboxes(engine);
    this.#runs = new ContainerRuns(engine);
    this.#stops = new ContainerStops(engine);
  }

  dispose(): void {
    this.#ports.dispose();
    this.#engine.dispose();
  }

  capabilities(): ContainerCapabilities {
    return this.#engine.parts.probe.found().capabilities;
  }

  async probe(signal: AbortSignal): Promise<ContainerCapabilities> {
    signal.throwIfAborted();
    return await untilAborted(this.#engine.probe(), signal);
  }

  onChange(listener: (sandboxId: string) => void): Disposable {
    return this.#engine.listen(listener);
  }

  async listSandboxes(signal: AbortSignal): Promise<readonly SandboxObservation[]> {
    return await this.#list('sandbox', sandboxObservation, signal);
  }

  async findSandbox(id: string, signal: AbortSignal): Promise<SandboxObservation | undefined> {
    return await this.#named({ role: 'sandbox', id: id, signal }, () => this.#sandboxes.find(id));
  }

  async startSandbox(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxObservation> {
    return await this.#inTurn({ role: 'sandbox', id: spec.id, signal }, () => this.#sandboxes.start(spec));
  }

  async endSandbox(id: string, signal: AbortSignal): Promise<void> {
    this.#ports.letGoIdle();
    await this.#inTurn({ role: 'sandbox', id: id, signal }, () => this.#sandboxes.end(id));
  }

  async removeSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn({ role: 'sandbox', id: id, signal }, () => this.#sandboxes.remove(id));
  }

  async listContainers(signal: AbortSignal): Promise<readonly ContainerObservation[]> {
    return await this.#list('container', containerObservation, signal);
  }

  async findContainer(id: string, signal: AbortSignal): Promise<ContainerObservation | undefined> {
    return await this.#named({ role: 'container', id: id, signal }, () => this.#runs.find(id));
  }

  async startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<ContainerObservation> {
    return await this.#inTurn({ role: 'container', id: spec.id, signal }, () => this.#runs.start(spec));
  }

  async stopContainer(id: string, options: { readonly graceMs: number }, signal: AbortSignal): Promise<void> {
    await this.#named({ role: 'container', id: id, signal }, () => this.#stops.stop(id, options.graceMs));
  }

  async removeContainer(id: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn({ role: 'container', id: id, signal }, () => this.#runs.remove(id));
  }

  async *readLog(containerId: string, selection: LogSelection, signal: AbortSignal): AsyncGenerator<LogLine> {
    const directory = await this.#named({ role: 'container', id: containerId, signal }, () =>
      logDirectory(this.#engine.parts.layout.logs, containerId),
    );
    if (directory === undefined) throw refusals.noContainer(containerId);
    const { clock } = this.#engine.parts;
    const end = new EndWatch(this.#engine, containerId);
    try {
      yield* readLog({ directory, selection, clock, hasEnded: () => end.hasEnded() }, signal);
    } finally {
      end.dispose();
    }
  }

  async removeLog(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn({ role: 'container', id: containerId, signal }, async () => {
      if (await this.#runs.find(containerId)) throw refusals.logInUse(containerId);
      const directory = await logDirectory(this.#engine.parts.layout.logs, containerId);
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    });
  }

  async execute(containerId: string, order: ProcessOrder, signal: AbortSignal): Promise<ContainerProcess> {
    return await this.#connect(containerId, signal, () => execute(this.#engine, containerId, order));
  }

  async attach(containerId: string, order: AttachOrder, signal: AbortSignal): Promise<ContainerProcess> {
    return await this.#connect(containerId, signal, () => attach(this.#engine, containerId, order));
  }

  async openPort(
    sandboxId: string,
    { port }: { readonly port: number },
    signal: AbortSignal,
  ): Promise<ByteStream> {
    return await this.#named({ role: 'sandbox', id: sandboxId, signal }, async () => {
      const seen = await this.#engine.catalog.find('sandbox', sandboxId);
      if (!seen) throw refusals.noSandbox(sandboxId);
      if (sandboxObservation(seen).state !== 'ready') throw refusals.sandboxEnded(sandboxId);
      const { networkPath } = seen.detail;
      return await connectPort({ networkPath, port }, this.#ports);
    });
  }

  async readUsage(signal: AbortSignal): Promise<readonly ContainerUsage[]> {
    return await this.#call(signal, async () => {
      const all = await this.#engine.catalog.all();
      const running = all.filter((seen) => seen.listed.role === 'container' && isRunning(seen));
      const usages = await Promise.all(running.map((seen) => this.#usageOf(seen)));
      return usages.filter((usage) => usage !== undefined);
    });
  }

  async #usageOf({ listed }: SeenContainer): Promise<ContainerUsage | undefined> {
    const usage = await readGroupUsage(listed.processId);
    const at = this.#engine.parts.clock.now();
    return usage && { containerId: listed.id, sandboxId: listed.sandboxId, at, ...usage };
  }

  /** One that comes when nobody waits for it any more is let go of. */
  async #connect(
    containerId: string,
    signal: AbortSignal,
    connect: () => Promise<ContainerProcess>,
  ): Promise<ContainerProcess> {
    return await this.#named({ role: 'container', id: containerId, signal }, async () => {
      const connection = await connect();
      if (signal.aborted) connection.dispose();
      return connection;
    });
  }

  async #list<T extends { readonly id: string }>(
    role: EngineRole,
    observe: (seen: SeenContainer) => T,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    if (this.#engine.isUntouched) return [];
    return await this.#call(signal, async () => {
      const all = await this.#engine.catalog.all();
      return all
        .filter(({ listed }) => listed.role === role)
        .map(observe)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    });
  }

  async #inTurn<T>(call: NamedCall, task: () => Promise<T>): Promise<T> {
    return await this.#named(call, () => this.#queue.run(engineName(call.role, call.id), task));
  }

  async #named<T>({ role, id, signal }: NamedCall, task: () => Promise<T>): Promise<T> {
    engineName(role, id);
    return await this.#call(signal, task);
  }

  /** An aborted signal ends the waiting for the result. */
  async #call<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    this.#engine.signal.throwIfAborted();
    signal.throwIfAborted();
    return await untilAborted(
      this.#engine.opened().then(() => task()),
      signal,
    );
  }
}
