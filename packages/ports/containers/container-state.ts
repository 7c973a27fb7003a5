/** Why a container does not run any more. */
export type ContainerEnd =
  /** By itself, or by a signal of whomever: then the code is 128 and the signal's number. */
  | { readonly cause: 'exited'; readonly exitCode: number }
  /** The kernel ended a process of it for want of memory. */
  | { readonly cause: 'out-of-memory'; readonly exitCode: number }
  /** It never ran: what it was to start is not there or cannot be started. In the words of the program. */
  | { readonly cause: 'start-failed'; readonly message: string }
  /** Nobody saw how it ended: the host restarted, or what watches over it was killed. No process of it is left. */
  | { readonly cause: 'lost'; readonly message: string };

/**
 * A container as it is found now; nothing here is remembered.
 *
 * - `starting`: `startContainer` has not got through. If nobody is in it any more, call it again.
 * - `ended`: no process of it runs any more; `end` says why. It stays so until it is removed.
 */
export interface ContainerObservation {
  readonly id: string;
  readonly sandboxId: string;
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly imageId: string;
  readonly state: 'starting' | 'running' | 'ended';
  readonly end?: ContainerEnd;
  /** Of its first process on the host, while it runs. */
  readonly processId?: number;
  /** Milliseconds since 1970, as are the following. */
  readonly createdAt: number;
  /** Absent if it never ran. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** What a running container has used so far. */
export interface ContainerUsage {
  readonly containerId: string;
  readonly sandboxId: string;
  /** When it was read, milliseconds since 1970. */
  readonly at: number;
  /** Of all processors together, since it started. */
  readonly cpuNanoseconds: number;
  /** All that is counted against its limit. */
  readonly memoryBytes: number;
  /** Without what the kernel would give up first; what decides whether it must be ended. */
  readonly workingSetBytes: number;
  readonly processCount: number;
}
