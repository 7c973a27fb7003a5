import type { Disposable } from '@sheaf/base';
import type { Capability } from './capability.ts';
import type { DiskFile } from './hypervisor/machine-devices.ts';

export interface VolumeCapabilities {
  readonly volumes: Capability;
  readonly snapshot: Capability;
  readonly clone: Capability;
  readonly expand: Capability;
  readonly onlineExpand: Capability;
}

/** Room on the medium, in bytes. */
export interface VolumeSpace {
  readonly totalBytes: number;
  /** What the file system has left. */
  readonly freeBytes: number;
  /** What volumes may grow to, and what snapshots and images take; work that has begun is counted in. */
  readonly promisedBytes: number;
  /** What may be promised at most: what is left and what is taken by this driver already, times over-commitment. */
  readonly promisableBytes: number;
}

/** What a new volume holds at first. */
export type VolumeContent =
  | { readonly kind: 'blank' }
  /** The image stays where it is and is shared by all its volumes. */
  | { readonly kind: 'image'; readonly imageId: string }
  | { readonly kind: 'volume'; readonly volumeId: string }
  | { readonly kind: 'snapshot'; readonly snapshotId: string };

export interface VolumeOrder {
  /** The UID of the claim. Never used again. */
  readonly id: string;
  /** `NAMESPACE/NAME`, for people who look at the host. */
  readonly title: string;
  /** Virtual size; at least that of its content. */
  readonly bytes: number;
  readonly content: VolumeContent;
  /** `full`: all of it is taken from the file system now. */
  readonly provisioning: 'thin' | 'full';
}

export interface VolumeObservation {
  readonly id: string;
  readonly title: string;
  readonly bytes: number;
  /** What it takes on the medium now. */
  readonly allocatedBytes: number;
  /** Looked up again before each use: a snapshot under a running machine changes it. */
  readonly file: DiskFile;
  /** Its layers are being merged: a machine that is started now would find them locked. It passes by itself. */
  readonly isBusy: boolean;
  /** The image whose data it shares. */
  readonly basedOn?: string;
  readonly snapshotIds: readonly string[];
}

export interface SnapshotObservation {
  readonly id: string;
  readonly volumeId: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly takenAt: number;
}

/** A file in the driver's care that no object accounts for. */
export interface UnownedFile {
  readonly path: string;
  readonly allocatedBytes: number;
}

/**
 * How far a long piece of work is; it is found again by its id after a restart, so no work is done twice and none is lost.
 */
export type Progress =
  | { readonly state: 'working'; readonly percent: number }
  | { readonly state: 'done' }
  | { readonly state: 'failed'; readonly message: string; readonly nature: 'transient' | 'fault' };

/**
 * Disks in the care of this machine. Calls are idempotent by id, also after a crash between any two of their steps: no file is
 * half made, none is lost, and none is left that nobody asked for. What does not fit is refused before any of it is used, as
 * `Forbidden` with the figures; what another use stands against is refused as `Conflict`, what is not there as `NotFound`.
 */
export interface Volumes {
  capabilities(): VolumeCapabilities;
  space(signal: AbortSignal): Promise<VolumeSpace>;
  list(signal: AbortSignal): Promise<readonly VolumeObservation[]>;
  find(id: string, signal: AbortSignal): Promise<VolumeObservation | undefined>;
  /**
   * Asked by who has opened a file for writing, and holds its lock, before the first write: false for a layer that is frozen, or that
   * was a volume's and is no more. A switch that nobody told of is found out first; what is prepared for a snapshot and open nowhere
   * is given up, since what is written from now on is later. What is true stays so for as long as the lock is held. Files that are none of this driver are not its concern: true.
   */
  mayWrite(path: string, signal: AbortSignal): Promise<boolean>;
  onChange(listener: (id: string) => void): Disposable;

  /**
   * Begins or goes on: called again, it tells how far it is. A failure is told once; the next call begins anew. Short work is
   * done when it resolves. `find` knows a volume from when it is whole.
   */
  create(order: VolumeOrder, signal: AbortSignal): Promise<Progress>;
  /**
   * Only more than it has. `isAttached`: a running machine has it open; then the room is only set aside, and the machine's own
   * driver lets the file grow.
   */
  expand(id: string, change: { bytes: number; isAttached: boolean }, signal: AbortSignal): Promise<void>;
  /**
   * What others are based on, snapshots too, stays on the medium, unseen, until they are gone. Nothing there: nothing to do.
   */
  remove(id: string, signal: AbortSignal): Promise<void>;

  /**
   * The state of now, kept. For an attached volume only prepares the new top file; the caller makes the running machine
   * switch to it and calls again with `isSwitched`. A switch that was not told is found out by what the machine has written.
   */
  snapshot(
    order: {
      readonly id: string;
      readonly volumeId: string;
      readonly isAttached: boolean;
      readonly isSwitched?: boolean;
    },
    signal: AbortSignal,
  ): Promise<{ readonly overlay?: DiskFile }>;
  listSnapshots(signal: AbortSignal): Promise<readonly SnapshotObservation[]>;
  /**
   * The file that was prepared for a snapshot of an attached volume, as long as nobody has told and nothing shows whether the machine
   * has switched to it. Only the machine knows: who finds that it writes there calls `snapshot` with `isSwitched`.
   */
  findPrepared(id: string, signal: AbortSignal): Promise<DiskFile | undefined>;
  /**
   * Gives its room back, or, while a machine has the volume open, when the next one of it is removed. What is prepared is given up;
   * while a machine has it open it is refused as `Conflict`, since the machine may write to it.
   */
  removeSnapshot(id: string, signal: AbortSignal): Promise<void>;

  /** What lies in the driver's directories and belongs to none of the given volumes, snapshots and images. */
  findUnowned(
    known: {
      readonly volumeIds: ReadonlySet<string>;
      readonly snapshotIds: ReadonlySet<string>;
      readonly imageIds: ReadonlySet<string>;
    },
    signal: AbortSignal,
  ): Promise<readonly UnownedFile[]>;
}
