import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BundleIndex } from '@sheaf/ports';
import { placeDurably } from '../local-disk/durable-files.ts';
import { hexOf } from './bundle-index.ts';
import { type BundlePart, damaged } from './bundle-reader.ts';

/** Parts of the bundle that is being loaded, each in a file with its digest for a name: what has such a name is whole. */
export class StagedParts {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  pathOf(digest: string): string {
    return join(this.#directory, hexOf(digest));
  }

  /** Makes room for this bundle: what an earlier load of another one has left goes. */
  async prepare(index: BundleIndex): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const wanted = new Set(index.parts.map(({ digest }) => hexOf(digest)));
    for (const name of await readdir(this.#directory))
      if (!wanted.has(name)) await rm(join(this.#directory, name), { recursive: true, force: true });
  }

  /** How many bytes are still to come. */
  async missingBytes(index: BundleIndex): Promise<number> {
    let sum = 0;
    for (const { digest, bytes } of index.parts) if (!(await this.#has(digest))) sum += bytes;
    return sum;
  }

  async take({ digest, content }: BundlePart, signal: AbortSignal): Promise<void> {
    if (await this.#has(digest)) return;
    const path = this.pathOf(digest);
    const unfinished = `${path}.part`;
    await pipeline(Readable.from(content()), createWriteStream(unfinished, { mode: 0o600 }), { signal });
    await placeDurably(unfinished, path);
  }

  /** @throws StatusError BadRequest */
  async checkWhole(index: BundleIndex): Promise<void> {
    for (const { digest } of index.parts)
      if (!(await this.#has(digest))) throw damaged(`${digest} is missing`);
  }

  async clear(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #has(digest: string): Promise<boolean> {
    const found = await stat(this.pathOf(digest)).catch(() => undefined);
    return found?.isFile() === true;
  }
}
