import type { Disposable } from '@sheaf/base';

/** A chart in a bundle, as add-ons and charts ask for it. */
export interface BundledChart {
  /** Empty for a chart that is named by its address alone. */
  readonly repo: string;
  readonly chart: string;
  readonly version: string;
  /** Of its archive: `sha256:` and hex. */
  readonly digest: string;
}

export interface BundledImage {
  /** As an image store knows it: with registry, and with a tag or a digest. */
  readonly reference: string;
  /** Of its manifest, or of the list of manifests that has one for the platform. */
  readonly digest: string;
  readonly mediaType: string;
  /** Everything that it is made of, manifests and configuration first. */
  readonly parts: readonly string[];
}

/** A program that operations need. */
export interface BundledProgram {
  readonly name: 'helm';
  readonly version: string;
  readonly digest: string;
}

/** What a bundle says of itself. Whatever it names by a digest is a part of it. */
export interface BundleIndex {
  readonly formatVersion: 1;
  /** `linux/amd64`. */
  readonly platform: string;
  /** What it was made for, such as `Addon default/pages`; for people. */
  readonly purposes: readonly string[];
  readonly charts: readonly BundledChart[];
  readonly images: readonly BundledImage[];
  readonly programs: readonly BundledProgram[];
  readonly parts: readonly { readonly digest: string; readonly bytes: number }[];
}

export interface LoadedBundle extends BundleIndex {
  /** 16 hex digits of what it says of itself: the same content has the same. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly loadedAt: number;
}

/** How far a load is; the last one is `done`. */
export type BundleNews =
  | { readonly step: 'received'; readonly id: string; readonly index: BundleIndex }
  | { readonly step: 'chart-stored' | 'program-stored'; readonly name: string }
  | { readonly step: 'image-loaded' | 'image-present'; readonly name: string }
  | { readonly step: 'done'; readonly id: string };

export interface BundleRemoval {
  /** Images that stay, for something uses them. */
  readonly kept: readonly string[];
}

/**
 * Bundles of this host: charts and images that need no network. What is wrong with an archive is `BadRequest`, no room for it is
 * `RequestEntityTooLarge`, a second load at a time is `Conflict`, each with its way out.
 */
export interface Bundles {
  list(): readonly LoadedBundle[];
  /**
   * Takes an archive in, then what it holds, piece by piece; each piece is verified before it is used. A load that is cut off has
   * changed nothing but that pieces are there: the next load of the same bundle does not store them again.
   */
  load(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<BundleNews>;
  /** Takes away its charts and images, but what another bundle has too, and images in use. */
  remove(id: string, signal: AbortSignal): Promise<BundleRemoval>;
  /** Whether a loaded bundle has brought this image. */
  hasImage(reference: string): boolean;
  /** After each load and removal. */
  onChange(listener: () => void): Disposable;
}
