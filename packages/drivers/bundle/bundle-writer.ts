import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { BundleIndex } from '@sheaf/ports';
import { tarEnd, tarHeader, tarPadding } from '../podman/archive/tar.ts';
import { hexOf, indexName, indexText } from './bundle-index.ts';

export interface BundleSource {
  readonly index: BundleIndex;
  /** The index that OCI programs read. */
  readonly layoutIndex: Uint8Array;
  /** The file of a part. */
  readonly pathOf: (digest: string) => string;
}

const readable = 0o644;

/** The bytes of a bundle: the same content gives the same ones, so nothing of it tells when, where or by whom it was made. */
export async function* bundleBytes({ index, layoutIndex, pathOf }: BundleSource): AsyncGenerator<Uint8Array> {
  yield* smallFile(indexName, Buffer.from(indexText(index)));
  yield* smallFile('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' })));
  yield* smallFile('index.json', layoutIndex);
  for (const { digest, bytes } of index.parts) {
    const path = `blobs/sha256/${hexOf(digest)}`;
    yield tarHeader({ path, content: new Uint8Array(), mode: readable }, bytes);
    let count = 0;
    for await (const chunk of createReadStream(pathOf(digest))) {
      count += (chunk as Uint8Array).length;
      yield chunk as Uint8Array;
    }
    if (count !== bytes)
      throw new Error(`${pathOf(digest)} has changed meanwhile: ${count} bytes, not ${bytes}`);
    yield tarPadding(bytes);
  }
  yield tarEnd();
}

function* smallFile(path: string, content: Uint8Array): Generator<Uint8Array> {
  yield tarHeader({ path, content, mode: readable }, content.length);
  yield content;
  yield tarPadding(content.length);
}

/** Writes all of it, or throws. Gives its size. */
export async function writeBundle(path: string, source: BundleSource): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let count = 0;
  try {
    for await (const chunk of bundleBytes(source)) {
      await file.writeFile(chunk);
      count += chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return count;
}
