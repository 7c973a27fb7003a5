import type { WaitedFor, Waiting } from '@sheaf/api';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VirtualMachineImage,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import type { ImageOrigin } from '@sheaf/ports';

/** Where the content comes from, or why that cannot be said yet. */
export type ImageSource =
  | { readonly state: 'ready'; readonly origin: ImageOrigin }
  /** `snapshot`: to be made, and waited for. */
  | { readonly state: 'waiting'; readonly waiting: Waiting; readonly snapshot?: VolumeSnapshot };

/** The objects that an image's spec names, as far as they are there. */
export interface SourceObjects {
  readonly claim?: PersistentVolumeClaim | undefined;
  readonly volume?: PersistentVolume | undefined;
  /** Machine instances on the claim that have not ended. */
  readonly claimUsers?: readonly WaitedFor[];
  /** The one that was taken for the image. */
  readonly snapshot?: VolumeSnapshot | undefined;
  readonly snapshotContent?: VolumeSnapshotContent | undefined;
  readonly original?: VirtualMachineImage | undefined;
  /** PEM of authorities that downloads trust beside the system's. */
  readonly additionalAuthorities?: string | undefined;
}
