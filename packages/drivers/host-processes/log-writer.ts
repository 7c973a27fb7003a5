import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { logPath } from '../podman/log-path.ts';

const maxBytes = 10 * 1024 * 1024;
const maxParts = 4;
const maxLineBytes = 16 * 1024;
const newline = 10;

/** Writes what a program prints in the form of CRI; parts that have become long are put aside. */
export class LogWriter {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #rests = new Map<string, Buffer>();
  #handle: FileHandle | undefined;
  #bytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(directory: string, now: () => number) {
    this.#directory = directory;
    this.#now = now;
  }

  /** Resolves when it is written; calls follow one another. */
  write(stream: 'stdout' | 'stderr', bytes: Buffer): Promise<void> {
    this.#last = this.#last.then(() => this.#take(stream, bytes));
    return this.#last;
  }

  /** What has no line end is a line all the same. */
  async close(): Promise<void> {
    await this.#last;
    for (const [stream, rest] of this.#rests) if (rest.length > 0) await this.#line(stream, 'F', rest);
    await this.#handle?.close();
  }

  async #take(stream: string, bytes: Buffer): Promise<void> {
    let rest = Buffer.concat([this.#rests.get(stream) ?? Buffer.alloc(0), bytes]);
    for (;;) {
      const end = rest.indexOf(newline);
      if (end >= 0 && end <= maxLineBytes) {
        await this.#line(stream, 'F', rest.subarray(0, end));
        rest = rest.subarray(end + 1);
      } else if (rest.length > maxLineBytes) {
        await this.#line(stream, 'P', rest.subarray(0, maxLineBytes));
        rest = rest.subarray(maxLineBytes);
      } else break;
    }
    this.#rests.set(stream, Buffer.from(rest));
  }

  async #line(stream: string, tag: 'F' | 'P', content: Buffer): Promise<void> {
    const time = new Date(this.#now()).toISOString().replace('Z', '000000Z');
    const line = Buffer.concat([Buffer.from(`${time} ${stream} ${tag} `), content, Buffer.from('\n')]);
    try {
      if (this.#bytes > maxBytes) await this.#rotate();
      this.#handle ??= await this.#open();
      await this.#handle.write(line);
      this.#bytes += line.length;
    } catch (error) {
      // A line that there is no room for is lost; what the program does goes on.
      if (!isFullDisk(error)) throw error;
    }
  }

  async #open(): Promise<FileHandle> {
    const path = logPath(this.#directory, 0);
    this.#bytes = (await stat(path).catch(() => undefined))?.size ?? 0;
    return open(path, 'a', 0o640);
  }

  async #rotate(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    this.#bytes = 0;
    await rm(logPath(this.#directory, maxParts), { force: true });
    for (let part = maxParts - 1; part >= 0; part--)
      await rename(logPath(this.#directory, part), logPath(this.#directory, part + 1)).catch(ignoreAbsent);
  }
}

/** Nothing more can be written until somebody makes room. */
export function isFullDisk(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function ignoreAbsent(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
