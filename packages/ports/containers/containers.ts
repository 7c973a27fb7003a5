import type { ByteStream, Disposable } from '@sheaf/base';
import type { Capability } from '../capability.ts';
import type { ContainerSpec } from './container.ts';
import type { LogLine, LogSelection } from './container-log.ts';
import type { AttachOrder, ContainerProcess, ProcessOrder } from './container-process.ts';
import type { ContainerObservation, ContainerUsage } from './container-state.ts';
import type { SandboxObservation, SandboxSpec } from './sandbox.ts';

export interface ContainerCapabilities {
  readonly containers: Capability;
  /** Sandboxes with addresses of their own. Those on the host's network need only `containers`. */
  readonly podNetwork: Capability;
  /** Memory, processors and number of processes can be limited. */
  readonly limits: Capability;
  /** Containers can be kept from calls of the kernel. */
  readonly seccomp: Capability;
  /** Addresses of pods on this host, such as `10.42.0.0/24`; absent without a network for pods. */
  readonly podSubnet?: string;
  /** What was chosen by trying; for people: `podman 4.3.1`, `runc 1.1.5`, `overlay`. Absent without containers. */
  readonly engine?: {
    readonly version: string;
    readonly runtime: string;
    readonly storage: string;
  };
}

/**
 * Runs containers as processes that outlive this one.
 *
 * Every call looks at the world first and is idempotent by id: called again with the same arguments, also after a crash between
 * any two of its steps, it goes on or finds that nothing is to do. Nothing runs twice for one id, whoever calls. Ids are the
 * caller's; what they name is found again after a restart, with its labels. Calls reject with a `StatusError` or an `Error` whose
 * message has the program's own words: `NotFound` for what is not there, `Conflict` for what another use stands against,
 * `BadRequest` for what cannot be, `ServiceUnavailable` with the way out where the engine cannot be had or does not answer; each
 * takes bounded time. An aborted `signal` ends the waiting, not the container. `dispose` lets go of the containers; they run on.
 */
export interface Containers extends Disposable {
  /** Before the first `probe`, nothing is available. */
  capabilities(): ContainerCapabilities;
  /** Looks again at what this machine can do, by trying. What has been found for this machine's programs is not tried again. */
  probe(signal: AbortSignal): Promise<ContainerCapabilities>;
  /**
   * Tells which sandbox is to be looked at again, soon after anything about it or its containers changed. Events announce, they
   * carry nothing.
   */
  onChange(listener: (sandboxId: string) => void): Disposable;

  /** All sandboxes that have not been removed, those of an earlier life of this process too. */
  listSandboxes(signal: AbortSignal): Promise<readonly SandboxObservation[]>;
  findSandbox(id: string, signal: AbortSignal): Promise<SandboxObservation | undefined>;
  /**
   * Makes its namespaces and gets it its address: state `ready`. For one id that happens at most once; called again, it tells how
   * things are. Rejects where something that it needs is not there; then nothing of it stays.
   */
  startSandbox(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxObservation>;
  /** Ends all its containers at once and gives back its address and host ports; resolves when that is done. */
  endSandbox(id: string, signal: AbortSignal): Promise<void>;
  /** Removes every trace of an ended sandbox, its containers and their logs. Refuses one that is not ended. */
  removeSandbox(id: string, signal: AbortSignal): Promise<void>;

  /** All containers that have not been removed, ordered by id. */
  listContainers(signal: AbortSignal): Promise<readonly ContainerObservation[]>;
  findContainer(id: string, signal: AbortSignal): Promise<ContainerObservation | undefined>;
  /**
   * Makes and starts it: state `running`, or `ended` if it was that quick or could not be started. For one id that happens at most
   * once; called again, it tells how things are. Rejects where something that it needs is not there: the sandbox, the image, what
   * is mounted. Then nothing of it stays, and it may be called again.
   */
  startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<ContainerObservation>;
  /**
   * Sends its stop signal, and ends it for good when `graceMs` are over; resolves when it has ended. Called again meanwhile, the
   * earlier one of both ends counts. 0: ends it at once.
   */
  stopContainer(id: string, options: { readonly graceMs: number }, signal: AbortSignal): Promise<void>;
  /** Removes an ended container with its file system. Its log stays readable until `removeLog` or the end of its sandbox's removal. */
  removeContainer(id: string, signal: AbortSignal): Promise<void>;

  /** What it has printed, oldest first, rotated parts included; also of a removed container. Aborting `signal` ends it. */
  readLog(containerId: string, selection: LogSelection, signal: AbortSignal): AsyncIterable<LogLine>;
  /** Only of a container that has been removed; `Conflict` otherwise. Nothing there: nothing to do. */
  removeLog(containerId: string, signal: AbortSignal): Promise<void>;

  /** Starts a process in a running container. */
  execute(containerId: string, order: ProcessOrder, signal: AbortSignal): Promise<ContainerProcess>;
  /**
   * The first process of a running container; any number of connections at once. What it printed before is in the log. Connections
   * without input come and go unnoticed; a container that has no input gives none.
   */
  attach(containerId: string, order: AttachOrder, signal: AbortSignal): Promise<ContainerProcess>;
  /** A connection to a port as a process in the sandbox would make it to `localhost`. */
  openPort(sandboxId: string, target: { readonly port: number }, signal: AbortSignal): Promise<ByteStream>;
  /** Of all that run now. */
  readUsage(signal: AbortSignal): Promise<readonly ContainerUsage[]>;
}
