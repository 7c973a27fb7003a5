import type { Disposable } from '@sheaf/base';

/** A stored image. */
export interface ContainerImage {
  /** Says what is in it: the digest of its configuration, `sha256:` and hex. */
  readonly id: string;
  /** Names with a tag, such as `docker.io/library/nginx:1.27`. */
  readonly tags: readonly string[];
  /** Names with the digest of a manifest, such as `docker.io/library/nginx@sha256:…`. */
  readonly digests: readonly string[];
  /** On the medium, with what it shares with others. */
  readonly bytes: number;
  /** Whom its processes run as: `USER[:GROUP]` by name or number; the administrator, if empty. */
  readonly user: string;
  readonly entryPoint: readonly string[];
  readonly arguments: readonly string[];
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface PullOrder {
  /** Chosen by the caller, such as what it is pulled for; names the work until it is over. */
  readonly id: string;
  /** With its registry: `REGISTRY[:PORT]/REPOSITORY[:TAG][@DIGEST]`. */
  readonly reference: string;
  readonly credentials?: { readonly username: string; readonly password: string };
  /** PEM of authorities that are trusted for this registry beside the system's. */
  readonly additionalAuthorities?: string;
  /** Certificates are not looked at, and plain HTTP will do. */
  readonly isInsecure?: boolean;
}

export type PullProgress =
  /** Of its layers; how many will come is known bit by bit. */
  | { readonly state: 'working'; readonly receivedBytes: number; readonly totalBytes: number | undefined }
  | { readonly state: 'done'; readonly image: ContainerImage }
  | {
      readonly state: 'failed';
      /** In the words of the program. */
      readonly message: string;
      /** `fault`: it will fail again unless someone changes the reference, the credentials or the registry. */
      readonly nature: 'transient' | 'fault';
    };

/** Room that images and containers take, in bytes. */
export interface ContainerSpace {
  readonly imageBytes: number;
  /** What containers have written to file systems of their own. */
  readonly containerBytes: number;
  /** What the file system has left. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/**
 * Images that containers are made from. The caller decides whether one has to be pulled. What is not there is `NotFound`, what is
 * in use is `Conflict`; where the engine cannot be had, everything is `ServiceUnavailable` and says how to get it.
 */
export interface ContainerImages {
  list(signal: AbortSignal): Promise<readonly ContainerImage[]>;
  /** By a tagged name, a name with a digest, or an id. */
  find(reference: string, signal: AbortSignal): Promise<ContainerImage | undefined>;
  /** Tells which pull is to be looked at again: it has moved on, or is over. */
  onPull(listener: (orderId: string) => void): Disposable;
  /**
   * Begins it or tells how far it is; never waits for its end. One that receives nothing for some time fails by itself. An end is
   * told once; the next call begins anew. After a restart of this process, call it again: layers that are stored do not come again.
   */
  pull(order: PullOrder, signal: AbortSignal): Promise<PullProgress>;
  /** Gives it up. Nothing under way: nothing to do. */
  cancelPull(orderId: string, signal: AbortSignal): Promise<void>;
  /** Stores the images of an archive as `docker save` makes them, or of an OCI layout in a tar file. */
  load(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<readonly ContainerImage[]>;
  /** A name: takes it away, and the image if that was its last one. An id: takes the image with all its names. */
  remove(reference: string, signal: AbortSignal): Promise<void>;
  space(signal: AbortSignal): Promise<ContainerSpace>;
}
