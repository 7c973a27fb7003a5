import type { Disposable } from '@sheaf/base';
import type { Progress } from './volumes.ts';

/** Where an image comes from. */
export type ImageOrigin =
  | {
      readonly kind: 'download';
      /** Tried in turn. */
      readonly urls: readonly string[];
      /** PEM of authorities that are trusted beside the system's. */
      readonly additionalAuthorities?: string;
    }
  /** Comes in by `receive`. `totalBytes`: how many will come, if that is known; then there is room for them, or it is refused. */
  | { readonly kind: 'upload'; readonly totalBytes?: number }
  /** No machine may have it open; of one that is running, take a snapshot first. */
  | { readonly kind: 'volume'; readonly volumeId: string }
  | { readonly kind: 'snapshot'; readonly snapshotId: string }
  | { readonly kind: 'image'; readonly imageId: string };

export interface ImageOrder {
  /** The UID of the image object. Never used again. */
  readonly id: string;
  readonly title: string;
  readonly origin: ImageOrigin;
  /** SHA-512 in hex; of the bytes as they come, before any unpacking. */
  readonly sha512?: string;
  /** More than this is refused, before and while it comes, and while it is unpacked. */
  readonly maxBytes: number;
  /** A disk with more than this is no good. Absent: any size will do. */
  readonly maxVirtualBytes?: number;
}

export interface ImageObservation {
  readonly id: string;
  readonly progress: Progress;
  /** Bytes that have come so far; an upload or download goes on from here. */
  readonly receivedBytes: number;
  /** As announced by its source, if it is. */
  readonly totalBytes?: number;
  /** Known when done. */
  readonly image?: {
    readonly format: 'qcow2' | 'raw' | 'iso';
    readonly virtualBytes: number;
    readonly allocatedBytes: number;
  };
}

/**
 * Images that volumes are made from. Nothing is used before it has been verified: size, checksum, format, and that it names no
 * other file. Work goes on by itself after a restart; it is found again by its id.
 */
export interface Images {
  list(signal: AbortSignal): Promise<readonly ImageObservation[]>;
  find(id: string, signal: AbortSignal): Promise<ImageObservation | undefined>;
  /** Also with each per cent of an upload or download whose length is known. */
  onChange(listener: (id: string) => void): Disposable;
  /**
   * Begins or goes on with it; never waits for its end. After a failure it tries again: from the bytes that have come if the
   * failure was transient, from none if it was a fault.
   */
  request(order: ImageOrder, signal: AbortSignal): Promise<ImageObservation>;
  /** The next bytes of an upload, from `offset`, which must be `receivedBytes`; `isLast` begins the verification. */
  receive(
    id: string,
    part: { readonly offset: number; readonly bytes: AsyncIterable<Uint8Array>; readonly isLast: boolean },
    signal: AbortSignal,
  ): Promise<ImageObservation>;
  /** The bytes of a finished image, as a raw or qcow2 file. */
  read(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly content: AsyncIterable<Uint8Array> }>;
  /** Ends its work and removes it. Refused while volumes are based on it. */
  remove(id: string, signal: AbortSignal): Promise<void>;
}
