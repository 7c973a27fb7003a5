import type { ImageObservation, ImageOrder } from '@sheaf/ports';

export interface VolumeRecord {
  readonly id: string;
  readonly title: string;
  /** What has been promised. The file may have less while a machine has it open. */
  readonly bytes: number;
  readonly provisioning: 'thin' | 'full';
  /** The layer that it writes to. */
  readonly top: string;
  /** `making`: its layer may not be in its place yet; nobody has been told of it. */
  readonly state: 'making' | 'made' | 'removing';
}

export interface SnapshotRecord {
  readonly id: string;
  readonly volumeId: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  /** What it keeps. */
  readonly layer: string;
  /** While `prepared`: where the machine is to go on. */
  readonly overlay?: string;
  readonly state: 'prepared' | 'taken' | 'removing';
}

/** The memory of a machine. */
export interface MemoryRecord {
  readonly id: string;
  readonly title: string;
  /** What is set aside while it is written. */
  readonly bytes: number;
  readonly state: 'prepared' | 'kept' | 'removing';
}

/** Which state of which file has been downloaded so far; all of it must be the same when more of it is asked for. */
export interface PinnedSource {
  readonly url: string;
  readonly etag?: string;
  readonly lastModified?: string;
}

export interface ImageRecord {
  readonly id: string;
  readonly order: ImageOrder;
  readonly state: 'receiving' | 'verifying' | 'done' | 'failed' | 'removing';
  /** Durable bytes of the part file. */
  readonly receivedBytes: number;
  readonly totalBytes?: number;
  readonly pinned?: PinnedSource;
  readonly failure?: {
    readonly message: string;
    readonly nature: 'transient' | 'fault';
    readonly during: 'receiving' | 'verifying';
  };
  readonly layer?: string;
  readonly image?: { readonly format: ImageFormat; readonly virtualBytes: number };
}

type ImageFormat = NonNullable<ImageObservation['image']>['format'];
