import type { Disposable, Secret } from '@sheaf/base';
import type { Capability } from './capability.ts';
import type { Progress } from './volumes.ts';

/** How a registry is asked. */
export interface RegistryAccess {
  /** Configurations of Docker (`{"auths": {…}}`), as pull secrets hold them. */
  readonly credentials?: readonly Secret<string>[];
  /** PEM of authorities that are trusted beside the host's. */
  readonly authorities?: string;
  /** Without TLS, or with a certificate that nobody vouches for. */
  readonly isInsecure?: boolean;
}

export interface ContainerDiskOrder {
  /** As users write it: `quay.io/containerdisks/fedora:43`. */
  readonly reference: string;
  /** Where the disk is in the image; absent: the one file in `/disk`. */
  readonly path?: string;
  /** Whether the registry is asked what the name stands for now, or what is here already will do. */
  readonly policy: 'Always' | 'IfNotPresent' | 'Never';
  /** Under `Always` it is asked once for each of these, e.g. each run of a machine. */
  readonly occasion: string;
  readonly access: RegistryAccess;
}

export interface ContainerDiskObservation {
  readonly progress: Progress;
  /** When done: the image of the image port that volumes are made from. It is shared, and never written to. */
  readonly image?: { readonly id: string; readonly virtualBytes: number };
}

/**
 * Disks in container images. Each is fetched once: what names the same content has the same image. Nothing is used before it has
 * been verified as every image is; layers are read by us, and nothing in them is followed or run.
 */
export interface ContainerDisks {
  capability(signal: AbortSignal): Promise<Capability>;
  /** Told the reference of what has changed. */
  onChange(listener: (reference: string) => void): Disposable;
  /**
   * Begins or goes on; never waits for its end. What has failed is told for a while, longer each time, then tried again by the next
   * call.
   */
  fetch(order: ContainerDiskOrder, signal: AbortSignal): Promise<ContainerDiskObservation>;
  /** Gives up all that has been fetched under other names, but what volumes are based on. */
  keepOnly(references: ReadonlySet<string>, signal: AbortSignal): Promise<void>;
}

/** Ids of images that this port makes begin with it. */
export const containerImagePrefix = 'container-';
