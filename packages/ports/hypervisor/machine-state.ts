/** Why a machine does not run any more. */
export type MachineEnd =
  /** The guest powered off by itself, or after the power button. */
  | { readonly cause: 'guest-shutdown' }
  /** The guest reported a panic, or its processor stopped with an error. */
  | { readonly cause: 'guest-panicked'; readonly message: string }
  /** Ended by `end` of this contract. */
  | { readonly cause: 'stopped' }
  /** The process was ended by a signal or ended with an error; nobody asked for it here. */
  | { readonly cause: 'process-died'; readonly message: string }
  /** The process did not outlive a restart of the host. */
  | { readonly cause: 'host-restarted' }
  /** It never ran: the program refused, with its own words. */
  | { readonly cause: 'start-failed'; readonly message: string };

/** A device that is plugged in. */
export interface AttachedDevice {
  /** The name in the spec. */
  readonly name: string;
  readonly kind: 'disk' | 'nic';
  /** A CD-ROM drive with a medium, or any other disk with its file. */
  readonly path?: string;
  /** The guest has been asked to let go of it and has not yet. */
  readonly isLeaving: boolean;
}

export interface ForwardedPort {
  readonly nic: string;
  readonly protocol: 'tcp' | 'udp';
  readonly guestPort: number;
  /** Where the driver listens on the host's loopback. */
  readonly hostPort: number;
}

/**
 * A machine as it is found now; nothing here is remembered.
 *
 * - `starting`: `start` has not got through. If nobody is in it any more, call it again.
 * - `paused`: it was started or halted and its processors stand; what `resume` is for. `isStalled` tells when that happened because
 *   a disk could not take what was written.
 * - `unresponsive`: the process is there and does not answer. It may come back by itself.
 * - `ended`: no processor runs any more; `end` says why. The cause is kept until `forget`.
 */
export interface MachineObservation {
  readonly id: string;
  readonly title: string;
  readonly state: 'starting' | 'paused' | 'running' | 'unresponsive' | 'ended';
  readonly isStalled?: boolean;
  /** Its memory is being kept: as soon as that is done, its disks go on in new files. */
  readonly isMemoryBeingKept?: boolean;
  readonly end?: MachineEnd;
  readonly processId?: number;
  readonly accelerator?: 'kvm' | 'tcg';
  /** When its process was started, milliseconds since 1970. */
  readonly startedAt: number;
  readonly devices: readonly AttachedDevice[];
  readonly forwards: readonly ForwardedPort[];
  readonly sockets: number;
  readonly memoryBytes: number;
  readonly isAgentConnected: boolean;
  /** How often the guest was seen to reset itself in this run. */
  readonly guestResets: number;
}
