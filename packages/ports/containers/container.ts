import type { ContainerResources, ContainerSecurity } from './container-security.ts';

/** A directory or file of the host inside a container. */
export interface ContainerMount {
  /** Absolute, and there. */
  readonly hostPath: string;
  /**
   * A path below `hostPath` that is mounted instead. It never leads out of it, whatever symbolic links a container of the same
   * directory makes meanwhile; one that does is refused as `BadRequest`. Where there is nothing a directory is made.
   */
  readonly subPath?: string;
  readonly containerPath: string;
  readonly isReadOnly?: boolean;
  /** Whether mounts made later below it show in the container, and back on the host; neither, if absent. */
  readonly propagation?: 'host-to-container' | 'bidirectional';
}

/**
 * One run of one container of a sandbox, without a word of the program that runs it. Values are checked by the caller; what the
 * program refuses is told by `startContainer`.
 */
export interface ContainerSpec {
  /** Such as the pod's UID, the container's name and an attempt: `[A-Za-z0-9][A-Za-z0-9_.-]{0,199}`. Never used again for another run. */
  readonly id: string;
  readonly sandboxId: string;
  /** `NAMESPACE/POD/CONTAINER`, for people who look at the host. */
  readonly title: string;
  /** Come back with each observation. */
  readonly labels: Readonly<Record<string, string>>;
  /** Id of a stored image, as the images tell it: a name may come to mean another one. */
  readonly imageId: string;
  /** Instead of the image's entry point; then its arguments are dropped, too. */
  readonly entryPoint?: readonly string[];
  /** Instead of the image's arguments. */
  readonly arguments?: readonly string[];
  readonly workingDirectory?: string;
  /**
   * Id of a container of the sandbox whose processes it sees as its own, where the sandbox does not share them anyway. It has to run,
   * else the start is refused as `Conflict`; this one ends with it.
   */
  readonly processesOf?: string;
  /** On top of the image's. Nothing of this process's environment goes in. */
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly ContainerMount[];
  readonly resources: ContainerResources;
  readonly security: ContainerSecurity;
  /** Its input stays open for those who attach; else it is at its end from the start. */
  readonly hasInput: boolean;
  /** The input ends with the first connection that has it; that of a terminal never does, it is typed there. */
  readonly endsInputOnce?: boolean;
  readonly hasTerminal: boolean;
  /** A name (`SIGINT`) or number; the image's own, else SIGTERM. */
  readonly stopSignal?: string;
}
