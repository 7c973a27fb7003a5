import { createHash } from 'node:crypto';
import { copyFile, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleIndex } from '@sheaf/ports';
import { hexOf } from './bundle-index.ts';
import { digestOfFile } from './placed-files.ts';

export interface KeptPart {
  readonly digest: string;
  readonly bytes: number;
}

/** Parts of a bundle that is being made, each once, in a directory that its maker removes. */
export class PartStore {
  readonly #directory: string;
  readonly #sizes = new Map<string, number>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  pathOf(digest: string): string {
    return join(this.#directory, hexOf(digest));
  }

  /** Sorted: the same parts in whatever order make the same bundle. */
  list(): BundleIndex['parts'] {
    return [...this.#sizes]
      .map(([digest, bytes]) => ({ digest, bytes }))
      .toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  }

  async addBytes(content: Uint8Array): Promise<KeptPart> {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    await mkdir(this.#directory, { recursive: true });
    if (!this.#sizes.has(digest)) await writeFile(this.pathOf(digest), content);
    this.#sizes.set(digest, content.length);
    return { digest, bytes: content.length };
  }

  /** Takes a file of the same file system in. */
  async move(path: string): Promise<KeptPart> {
    return await this.#add(path, rename);
  }

  /** The file stays where it is, wherever that is. */
  async copy(path: string): Promise<KeptPart> {
    return await this.#add(path, copyFile);
  }

  async #add(path: string, put: (from: string, to: string) => Promise<void>): Promise<KeptPart> {
    const digest = await digestOfFile(path);
    const { size: bytes } = await stat(path);
    await mkdir(this.#directory, { recursive: true });
    if (!this.#sizes.has(digest)) await put(path, this.pathOf(digest));
    this.#sizes.set(digest, bytes);
    return { digest, bytes };
  }
}
