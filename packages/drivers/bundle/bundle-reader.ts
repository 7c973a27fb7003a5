import { createHash } from 'node:crypto';
import { badRequest } from '@sheaf/base';
import type { BundleIndex } from '@sheaf/ports';
import { readTar, type TarEntry } from '../local-disk/container/tar-reader.ts';
import { SourceFault } from '../local-disk/http-source.ts';
import { indexLimitBytes, indexName, readIndex, refused } from './bundle-index.ts';

export interface BundlePart {
  readonly digest: string;
  readonly bytes: number;
  /** Read at most once, before the next part is asked for. @throws StatusError at its end, if it is not what its name says */
  content(): AsyncIterable<Uint8Array>;
}

export interface OpenedBundle {
  readonly index: BundleIndex;
  /** Those that the index names, as they come. @throws StatusError BadRequest for everything else */
  readonly parts: AsyncIterable<BundlePart>;
}

/** Files of the layout of which other programs know what is in the archive. */
const layoutFiles: ReadonlySet<string> = new Set(['oci-layout', 'index.json']);
const partPattern = /^blobs\/sha256\/([0-9a-f]{64})$/;

/** Reads a bundle as it comes, and writes nothing. @throws StatusError BadRequest */
export async function openBundle(chunks: AsyncIterable<Uint8Array>): Promise<OpenedBundle> {
  const entries = readTar(chunks);
  const first = await entries.next().catch((error: unknown) => {
    throw error instanceof SourceFault ? refused(`it does not begin as one: ${error.message}`, error) : error;
  });
  if (first.done || first.value.path !== indexName || first.value.kind !== 'file')
    throw refused(`it does not begin with ${indexName}`);
  if (first.value.bytes > indexLimitBytes) throw refused(`${indexName} is too large`);
  const index = readIndex(await textOf(first.value));
  return { index, parts: partsOf(entries, index) };
}

async function* partsOf(entries: AsyncGenerator<TarEntry>, index: BundleIndex): AsyncGenerator<BundlePart> {
  const sizes = new Map(index.parts.map(({ digest, bytes }) => [digest, bytes]));
  for (;;) {
    const { done, value: entry } = await told(() => entries.next());
    if (done) return;
    if (entry.kind !== 'directory' && !layoutFiles.has(entry.path ?? '')) yield partOf(entry, sizes);
  }
}

function partOf(entry: TarEntry, sizes: ReadonlyMap<string, number>): BundlePart {
  const hex = partPattern.exec(entry.path ?? '')?.[1];
  const digest = `sha256:${hex}`;
  const bytes = sizes.get(digest);
  if (entry.kind !== 'file' || bytes === undefined)
    throw refused(`it holds ${JSON.stringify(entry.path ?? '..')}, which its index does not name`);
  if (entry.bytes !== bytes) throw damaged(`${digest} has ${entry.bytes} bytes instead of ${bytes}`);
  return { digest, bytes, content: () => verified(entry, digest) };
}

async function* verified(entry: TarEntry, digest: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const chunks = entry.content()[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await told(() => chunks.next());
    if (done) break;
    hash.update(value);
    yield value;
  }
  const found = `sha256:${hash.digest('hex')}`;
  if (found !== digest) throw damaged(`${digest} has the content of ${found}`);
}

async function textOf(entry: TarEntry): Promise<string> {
  const pieces: Uint8Array[] = [];
  const chunks = entry.content()[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await told(() => chunks.next());
    if (done) return Buffer.concat(pieces).toString('utf8');
    pieces.push(value);
  }
}

/** What the reader says is for people, and their fault. */
async function told<T>(next: () => Promise<T>): Promise<T> {
  try {
    return await next();
  } catch (error) {
    if (error instanceof SourceFault) throw damaged(error.message, error);
    throw error;
  }
}

export function damaged(why: string, cause?: unknown): Error {
  return badRequest(
    `the bundle is damaged or cut off: ${why}; bring the file again, and load it once more: what has come whole is kept`,
    cause,
  );
}
