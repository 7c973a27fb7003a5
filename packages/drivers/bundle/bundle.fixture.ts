import { createHash } from 'node:crypto';
import type { BundleIndex } from '@sheaf/ports';
import { type ImageContent, packImage } from '../podman/archive/image-archive.ts';
import { type TarEntry, tarFile } from '../podman/archive/tar.ts';
import { hexOf, indexText } from './bundle-index.ts';
import { hostPlatform } from './host-platform.ts';

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** A bundle by hand: what it says of itself, and what it holds. */
export interface HandmadeBundle {
  readonly index: BundleIndex;
  readonly parts: ReadonlyMap<string, Uint8Array>;
}

export interface Content {
  readonly charts?: readonly { readonly name: string; readonly content: string }[];
  readonly images?: readonly ImageContent[];
  /** What Helm is. */
  readonly helm?: string;
}

export const repo = 'http://charts.example';

export function handmade({ charts = [], images = [], helm }: Content): HandmadeBundle {
  const parts = new Map<string, Uint8Array>();
  const add = (content: Uint8Array): string => {
    parts.set(digestOf(content), content);
    return digestOf(content);
  };
  const index: BundleIndex = {
    formatVersion: 1,
    platform: hostPlatform(),
    purposes: ['a test'],
    charts: charts.map(({ name, content }) => ({
      repo,
      chart: name,
      version: '1.0.0',
      digest: add(Buffer.from(content)),
    })),
    images: images.map(packImage).map(({ name, config, layer, manifest }) => ({
      reference: name,
      digest: add(manifest.bytes),
      mediaType: manifest.mediaType,
      parts: [add(config.bytes), add(layer.bytes)],
    })),
    programs:
      helm === undefined ? [] : [{ name: 'helm', version: 'v3.22.0', digest: add(Buffer.from(helm)) }],
    parts: [...parts].map(([digest, content]) => ({ digest, bytes: content.length })),
  };
  return { index, parts };
}

/** As an archive, with what a test has changed of it. */
export function archived(
  { index, parts }: HandmadeBundle,
  changed: { readonly index?: unknown; readonly further?: readonly TarEntry[] } = {},
): Buffer {
  const text = changed.index === undefined ? indexText(index) : JSON.stringify(changed.index);
  return tarFile([
    { path: 'bundle.json', content: Buffer.from(text) },
    { path: 'oci-layout', content: Buffer.from('{}') },
    ...(changed.further ?? []),
    ...[...parts].map(([digest, content]) => ({ path: `blobs/sha256/${hexOf(digest)}`, content })),
  ]);
}

/** In chunks that fit to nothing. */
export async function* chunksOf(content: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.length; start += size)
    yield await Promise.resolve(content.subarray(start, start + size));
}
