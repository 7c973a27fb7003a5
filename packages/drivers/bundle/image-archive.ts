import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { BundledImage } from '@sheaf/ports';
import { tarEnd, tarHeader, tarPadding } from '../podman/archive/tar.ts';
import { hexOf } from './bundle-index.ts';

const readable = 0o644;

/** One image of a bundle as an archive of its own: an OCI layout, with manifests as the registry had them. */
export async function* imageArchive(
  { reference, digest, mediaType, parts }: BundledImage,
  pathOf: (digest: string) => string,
): AsyncGenerator<Uint8Array> {
  const { size } = await stat(pathOf(digest));
  const annotations = { 'org.opencontainers.image.ref.name': reference };
  const index = { schemaVersion: 2, manifests: [{ mediaType, digest, size, annotations }] };
  yield* smallFile('oci-layout', { imageLayoutVersion: '1.0.0' });
  yield* smallFile('index.json', index);
  for (const part of new Set([digest, ...parts])) {
    const bytes = (await stat(pathOf(part))).size;
    const path = `blobs/sha256/${hexOf(part)}`;
    yield tarHeader({ path, content: new Uint8Array(), mode: readable }, bytes);
    yield* createReadStream(pathOf(part)) as AsyncIterable<Uint8Array>;
    yield tarPadding(bytes);
  }
  yield tarEnd();
}

function* smallFile(path: string, value: unknown): Generator<Uint8Array> {
  const content = Buffer.from(JSON.stringify(value));
  yield tarHeader({ path, content, mode: readable }, content.length);
  yield content;
  yield tarPadding(content.length);
}
