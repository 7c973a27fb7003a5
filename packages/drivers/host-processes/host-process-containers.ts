import { spawn } from 'node:child_process';
import { type FSWatcher, mkdirSync, watch } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ByteStream, type Disposable, disposable, sleep } from '@sheaf/base';
import type {
  Capability,
  ContainerCapabilities,
  ContainerObservation,
  ContainerProcess,
  ContainerSpec,
  Containers,
  ContainerUsage,
  LogLine,
  LogSelection,
  SandboxObservation,
  SandboxSpec,
} from '@sheaf/ports';
import { KeyedQueue } from '../podman/keyed-queue.ts';
import { readLog } from '../podman/log-reader.ts';
import type { HostProcesses } from './host-processes.ts';
import { compiledVariable } from './host-program.ts';
import { checkedId, refusals } from './refusals.ts';
import { RunStops } from './run-stops.ts';

const watcherPath = fileURLToPath(new URL('watcher.ts', import.meta.url));
const pollMs = 10;
/** So long may a watcher take to begin. */
const startMs = 60_000;
/** How soon it is seen that a watcher was killed, of which nobody tells. */
const lookMs = 1000;

const absent: Capability = {
  isAvailable: false,
  reason: 'programs of the host share it with the host',
  wayOut: 'run an image instead',
};
const unknown: Capability = {
  isAvailable: false,
  reason: 'nobody has looked yet',
  wayOut: 'wait for the first look',
};

/**
 * Runs programs of the host as containers: without images, namespaces and limits, with everything else that the contract says.
 * Each has a directory of its own, nothing of this process's environment, and another user where that can be. Never a shell.
 */
export class HostProcessContainers implements Containers {
  readonly #host: HostProcesses;
  readonly #stops: RunStops;
  readonly #queue = new KeyedQueue();
  readonly #listeners = new Set<(sandboxId: string) => void>();
  #capabilities: ContainerCapabilities = {
    containers: unknown,
    podNetwork: absent,
    limits: absent,
    seccomp: absent,
  };
  #watcher: FSWatcher | undefined;
  #look: Disposable | undefined;

  constructor(host: HostProcesses) {
    this.#host = host;
    this.#stops = new RunStops(host);
  }

  capabilities(): ContainerCapabilities {
    return this.#capabilities;
  }

  async probe(signal: AbortSignal): Promise<ContainerCapabilities> {
    signal.throwIfAborted();
    await this.#host.tidy();
    const problem = this.#host.programs
      .map((program) => program.problem?.())
      .find((each) => each !== undefined);
    this.#capabilities = {
      ...this.#capabilities,
      containers: problem
        ? { isAvailable: false, ...problem }
        : { isAvailable: true, reason: 'programs of this host' },
      engine: { version: 'programs of this host', runtime: 'processes', storage: 'none' },
    };
    return this.#capabilities;
  }

  onChange(listener: (sandboxId: string) => void): Disposable {
    this.#listeners.add(listener);
    this.#watch();
    return disposable(() => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#unwatch();
    });
  }

  dispose(): void {
    this.#listeners.clear();
    this.#unwatch();
    this.#stops.dispose();
  }

  async listSandboxes(signal: AbortSignal): Promise<readonly SandboxObservation[]> {
    signal.throwIfAborted();
    await this.#host.tidy();
    const found = await Promise.all(
      (await this.#host.files.sandboxIds()).map((id) => this.#host.findSandbox(id)),
    );
    return found.filter((sandbox) => sandbox !== undefined);
  }

  async findSandbox(id: string, signal: AbortSignal): Promise<SandboxObservation | undefined> {
    signal.throwIfAborted();
    return this.#host.findSandbox(checkedId(id));
  }

  async startSandbox(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxObservation> {
    signal.throwIfAborted();
    if (spec.network.kind !== 'host') throw refusals.podNetwork();
    return this.#queue.run(checkedId(spec.id), async () => {
      await this.#host.tidy();
      const known = await this.#host.findSandbox(spec.id);
      if (known) return known;
      await this.#host.makeSandbox(spec);
      const made = await this.#host.findSandbox(spec.id);
      if (!made) throw refusals.noSandbox(spec.id);
      return made;
    });
  }

  async endSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#queue.run(checkedId(id), async () => {
      if (!(await this.#host.findSandbox(id))) throw refusals.noSandbox(id);
      await this.#host.markEnded(id);
      const runs = await this.#host.runsOf(id);
      await Promise.all(runs.map((run) => this.#stops.stop(run.id, 0, signal)));
      await this.#host.announce(id);
    });
  }

  async removeSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#queue.run(checkedId(id), async () => {
      signal.throwIfAborted();
      const found = await this.#host.findSandbox(id);
      if (found && found.state !== 'ended') throw refusals.sandboxRuns(id);
      await this.#host.removeSandbox(id);
    });
  }

  async listContainers(signal: AbortSignal): Promise<readonly ContainerObservation[]> {
    signal.throwIfAborted();
    await this.#host.tidy();
    return this.#host.runs();
  }

  async findContainer(id: string, signal: AbortSignal): Promise<ContainerObservation | undefined> {
    signal.throwIfAborted();
    return this.#host.findRun(checkedId(id));
  }

  async startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<ContainerObservation> {
    const { id, sandboxId } = spec;
    checkedId(id);
    return this.#queue.run(checkedId(sandboxId), async () => {
      signal.throwIfAborted();
      await this.#host.tidy();
      const known = await this.#host.findRun(id);
      if (!known) {
        const sandbox = await this.#host.findSandbox(sandboxId);
        if (!sandbox) throw refusals.noSandbox(sandboxId);
        if (sandbox.state === 'ended') throw refusals.sandboxEnded(sandboxId);
        await this.#host.makeRun(spec);
      }
      return known && known.state !== 'starting' ? known : this.#watchOver(id, signal);
    });
  }

  /** Whoever comes second of two watchers finds that, and goes. */
  async #watchOver(id: string, signal: AbortSignal): Promise<ContainerObservation> {
    const { clock, files } = this.#host;
    const child = spawn(process.execPath, [watcherPath, files.run(id)], {
      detached: true,
      stdio: 'ignore',
      env: { [compiledVariable]: files.compiled('watchers') },
      cwd: '/',
    });
    const failed = new Promise<never>((_, reject) => child.once('error', reject));
    child.unref();
    const end = clock.monotonic() + startMs;
    const begun = async (): Promise<ContainerObservation> => {
      for (;;) {
        const run = await this.#host.findRun(id);
        if (run && run.state !== 'starting') return run;
        if (clock.monotonic() > end) throw refusals.notStarting(id);
        await sleep(clock, pollMs, signal);
      }
    };
    return Promise.race([begun(), failed]);
  }

  async stopContainer(
    id: string,
    { graceMs }: { readonly graceMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#known(id);
    await this.#stops.stop(id, graceMs, signal);
  }

  async removeContainer(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const run = await this.#host.findRun(checkedId(id));
    if (!run) return;
    if (run.state !== 'ended') throw refusals.containerRuns(id);
    await this.#host.removeRun(id);
    await this.#host.announce(run.sandboxId);
  }

  async *readLog(id: string, selection: LogSelection, signal: AbortSignal): AsyncIterable<LogLine> {
    const directory = await this.#host.files.findLog(checkedId(id));
    if (directory === undefined) throw refusals.noContainer(id);
    const hasEnded = async (): Promise<boolean> => {
      const run = await this.#host.findRun(id);
      return run === undefined || run.state === 'ended';
    };
    yield* readLog({ directory, selection, clock: this.#host.clock, hasEnded }, signal);
  }

  async removeLog(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (await this.#host.findRun(checkedId(id))) throw refusals.logInUse(id);
    const directory = await this.#host.files.findLog(id);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }

  async execute(id: string): Promise<ContainerProcess> {
    await this.#known(id);
    throw refusals.inside('a command inside');
  }

  async attach(id: string): Promise<ContainerProcess> {
    await this.#known(id);
    throw refusals.inside('attaching');
  }

  async openPort(sandboxId: string): Promise<ByteStream> {
    if (!(await this.#host.findSandbox(checkedId(sandboxId)))) throw refusals.noSandbox(sandboxId);
    throw refusals.inside('a port of its own');
  }

  readUsage(signal: AbortSignal): Promise<readonly ContainerUsage[]> {
    signal.throwIfAborted();
    return Promise.resolve([]);
  }

  async #known(id: string): Promise<ContainerObservation> {
    const run = await this.#host.findRun(checkedId(id));
    if (!run) throw refusals.noContainer(id);
    return run;
  }

  #watch(): void {
    if (this.#watcher) return;
    mkdirSync(this.#host.files.events, { recursive: true });
    this.#watcher = watch(this.#host.files.events, { persistent: false }, (_event, name) => {
      if (name !== null) this.#tell(name);
    });
    this.#watcher.on('error', () => this.#watcher?.close());
    this.#lookSoon();
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#look?.dispose();
  }

  /** Watchers that were killed tell nothing, and the system may have no watches to give. */
  #lookSoon(): void {
    this.#look = this.#host.clock.schedule(lookMs, () => {
      void this.#lookNow().finally(() => {
        if (this.#watcher) this.#lookSoon();
      });
    });
  }

  async #lookNow(): Promise<void> {
    for (const id of await this.#host.files.runIds()) {
      const run = await this.#host.findRun(id).catch(() => undefined);
      if (run?.end?.cause === 'lost' && !this.#lost.has(id)) {
        this.#lost.add(id);
        this.#tell(run.sandboxId);
      }
    }
  }

  readonly #lost = new Set<string>();

  #tell(sandboxId: string): void {
    for (const listener of this.#listeners) listener(sandboxId);
  }
}
