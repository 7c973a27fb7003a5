import { type Clock, type Disposable, disposable, type Random, StatusError } from '@sheaf/base';
import type {
  ContainerCapabilities,
  ContainerImage,
  ContainerSpec,
  LogLine,
  ProcessOrder,
  PullOrder,
} from '@sheaf/ports';
import { SimulatedContainer } from './simulated-container.ts';
import { SimulatedFileTree } from './simulated-file-tree.ts';
import type { SimulatedSandbox } from './simulated-sandbox.ts';

/** What a simulated registry answers to a pull. */
export interface SimulatedSource {
  readonly image: Omit<ContainerImage, 'tags' | 'digests'>;
  readonly login?: { readonly username: string; readonly password: string };
  /** Who has to be trusted. */
  readonly authority?: string;
  /** Sends only the half of it. */
  readonly isStalling?: boolean;
}

export interface SimulatedContainerHostOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly capabilities?: Partial<ContainerCapabilities>;
}

/** What goes wrong, and when; changed while it runs. */
export interface ContainerFaults {
  /** Each step of a call takes a time up to this, as the seed decides; so calls overtake each other. */
  longestStepMs: number;
  /** Words of the program when a container is started; `undefined` where it starts. */
  startFailure: (spec: ContainerSpec) => string | undefined;
  executeFailure: (order: ProcessOrder) => string | undefined;
  /** A pull that receives nothing for so long is given up. */
  pullStallMs: number;
  /** Called between the steps of each call; a driver that is disposed here has died between these steps. */
  onStep: (step: string, id: string) => void;
}

/**
 * The host under simulated drivers of containers: what they start outlives them. Its own methods are what happens to containers by
 * themselves, or by someone else's hand. Time is the injected clock's.
 *
 * A container whose program is `/guest`, or whose image's is, takes its arguments as the steps that the contract of containers
 * tells; others wait until they are ended here.
 */
export class SimulatedContainerHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly options: SimulatedContainerHostOptions;
  readonly files = new SimulatedFileTree();
  readonly sandboxes = new Map<string, SimulatedSandbox>();
  readonly containers = new Map<string, SimulatedContainer>();
  readonly logs = new Map<string, { readonly sandboxId: string; readonly lines: LogLine[] }>();
  readonly images = new Map<string, ContainerImage>();
  /** By the reference that is pulled. */
  readonly sources = new Map<string, SimulatedSource>();
  readonly faults: ContainerFaults = {
    longestStepMs: 0,
    startFailure: () => undefined,
    executeFailure: () => undefined,
    pullStallMs: 60_000,
    onStep: () => undefined,
  };
  readonly #lives = new Set<(sandboxId: string) => void>();
  #lastProcessId = 1000;
  #lastAddress = 1;

  constructor(options: SimulatedContainerHostOptions) {
    this.options = options;
    this.clock = options.clock;
    this.random = options.random;
  }

  /** A driver lives until it is disposed. */
  live(onChange: (sandboxId: string) => void): Disposable {
    this.#lives.add(onChange);
    return disposable(() => this.#lives.delete(onChange));
  }

  announce(sandboxId: string): void {
    for (const life of this.#lives) life(sandboxId);
  }

  /** Stores an image as if it had been pulled before. */
  addImage(reference: string, image: Omit<ContainerImage, 'tags' | 'digests'>): ContainerImage {
    const known = this.images.get(image.id);
    const tags = [...new Set([...(known?.tags ?? []), reference])].toSorted();
    const digest = `${reference.replace(/:[^:/]*$/, '')}@${image.id}`;
    const digests = [...new Set([...(known?.digests ?? []), digest])].toSorted();
    const stored = { ...image, tags, digests };
    this.images.set(image.id, stored);
    return stored;
  }

  /** It prints, as a program does by itself. */
  print(containerId: string, text: string): void {
    this.#running(containerId).print('stdout', `${text}\n`);
  }

  /** It ends by itself. */
  exit(containerId: string, exitCode: number): void {
    this.#running(containerId).finish({ cause: 'exited', exitCode });
  }

  kill(containerId: string): void {
    this.#running(containerId).finish({ cause: 'exited', exitCode: 137 });
  }

  runOutOfMemory(containerId: string): void {
    this.#running(containerId).finish({ cause: 'out-of-memory', exitCode: 137 });
  }

  /** It listens on a port of its sandbox from now on. */
  listen(containerId: string, port: number): void {
    const container = this.#running(containerId);
    this.sandboxes.get(container.spec.sandboxId)?.listeners.set(port, container);
  }

  /** All processes end without a word. Drivers of before must not be used any more. */
  restart(): void {
    for (const sandbox of this.sandboxes.values())
      sandbox.close((container) => container.finish({ cause: 'lost', message: 'the host was restarted' }));
  }

  addSandbox(sandbox: SimulatedSandbox): void {
    this.sandboxes.set(sandbox.spec.id, sandbox);
  }

  /** An address that no sandbox has. */
  freeAddress(): string {
    const number = ++this.#lastAddress;
    return `10.42.${number >> 8}.${number & 255}`;
  }

  /** A host port of the spec that another sandbox has. */
  takenPort(sandbox: SimulatedSandbox): number | undefined {
    const taken = new Set(
      [...this.sandboxes.values()]
        .filter((other) => other !== sandbox && other.state === 'ready')
        .flatMap(portsOf),
    );
    return portsOf(sandbox).find((port) => taken.has(port));
  }

  /** @throws StatusError for a mount that cannot be */
  addContainer(spec: ContainerSpec, sandbox: SimulatedSandbox): SimulatedContainer {
    const places = spec.mounts.map((mount) => this.files.resolve(mount));
    const lines: LogLine[] = [];
    const container = new SimulatedContainer(spec, {
      clock: this.clock,
      files: this.files,
      sandbox,
      processId: ++this.#lastProcessId,
      log: lines,
      places,
      onChange: () => this.announce(spec.sandboxId),
    });
    this.logs.set(spec.id, { sandboxId: spec.sandboxId, lines });
    this.containers.set(spec.id, container);
    sandbox.containers.set(spec.id, container);
    return container;
  }

  removeContainer(id: string): void {
    const container = this.containers.get(id);
    this.containers.delete(id);
    if (container) this.sandboxes.get(container.spec.sandboxId)?.containers.delete(id);
  }

  removeSandbox(id: string): void {
    for (const container of this.sandboxes.get(id)?.containers.keys() ?? [])
      this.containers.delete(container);
    for (const [container, { sandboxId }] of this.logs) if (sandboxId === id) this.logs.delete(container);
    this.sandboxes.delete(id);
  }

  /** Why a pull would end badly; `undefined` if it would not. */
  refusal({ reference, credentials, additionalAuthorities, isInsecure }: PullOrder): string | undefined {
    const source = this.sources.get(reference);
    if (!source) return `reading manifest of ${reference}: manifest unknown`;
    const { authority } = source;
    if (authority !== undefined && isInsecure !== true && additionalAuthorities !== authority)
      return 'x509: certificate signed by unknown authority';
    return isLoggedIn(source, credentials) ? undefined : 'unauthorized: authentication required';
  }

  #running(id: string): SimulatedContainer {
    const container = this.containers.get(id);
    if (container?.state === 'running') return container;
    throw new StatusError({ reason: 'NotFound', message: `no container ${id} runs on the simulated host` });
  }
}

function portsOf({ spec: { network } }: SimulatedSandbox): readonly number[] {
  return network.kind === 'pod' ? network.hostPorts.map(({ hostPort }) => hostPort) : [];
}

function isLoggedIn({ login }: SimulatedSource, credentials: PullOrder['credentials']): boolean {
  if (!login) return true;
  return credentials?.username === login.username && credentials.password === login.password;
}
