import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '@sheaf/base';

export interface RotatedFileOptions {
  readonly path: string;
  readonly clock: Clock;
  /** A file that has this size is put aside. Default 100 MB. */
  readonly sizeBytes?: number;
  /** Files put aside that are kept. Default 10. */
  readonly count?: number;
  /** Files put aside longer ago are removed. Default 30 days. */
  readonly ageMs?: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** A file that grows at its end and is put aside, under the time of doing so, before it grows too large. Mode 0600. */
export class RotatedFile {
  readonly #options: Required<RotatedFileOptions>;
  #file: FileHandle | undefined;
  #size = 0;

  constructor(options: RotatedFileOptions) {
    this.#options = { sizeBytes: 100 * 1024 * 1024, count: 10, ageMs: 30 * dayMs, ...options };
  }

  /** Calls must not overlap. A write that fails in the middle leaves no part behind. */
  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text, 'utf8');
    if (this.#size > 0 && this.#size + bytes.length > this.#options.sizeBytes) await this.#putAside();
    const file = this.#file ?? (await this.#open());
    try {
      await file.appendFile(bytes);
      this.#size += bytes.length;
    } catch (error) {
      await file.truncate(this.#size).catch(() => undefined);
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    const { path } = this.#options;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    this.#file = await open(path, 'a', 0o600);
    this.#size = (await this.#file.stat()).size;
    return this.#file;
  }

  async #putAside(): Promise<void> {
    const { path, clock } = this.#options;
    await this.close();
    await rename(path, `${path}.${stampOf(clock.now())}`);
    this.#size = 0;
    await this.#removeOld();
  }

  async #removeOld(): Promise<void> {
    const { path, clock, count, ageMs } = this.#options;
    const prefix = `${basename(path)}.`;
    const aside = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix)).sort();
    const oldest = prefix + stampOf(clock.now() - ageMs);
    const surplus = aside.length - count;
    const removed = aside.filter((name, index) => index < surplus || name < oldest);
    for (const name of removed) await rm(join(dirname(path), name), { force: true });
  }
}

/** Sorts like time, and is a file name everywhere. */
function stampOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replaceAll(':', '-');
}
