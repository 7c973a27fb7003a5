import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';

export interface SerialLogOptions {
  readonly path: string;
  /** A file that has grown to this size is put aside. */
  readonly sizeBytes: number;
  /** Files put aside that are kept. */
  readonly count: number;
}

const blockBytes = 64 * 1024;

/**
 * What a serial console has printed. The machine's process appends to the file, also while nobody watches; this puts aside what
 * has grown too long. The process keeps the file open, so it is copied and emptied; between the last read of the copy and the
 * emptying nothing else happens in this process.
 */
export class SerialLog {
  readonly #options: SerialLogOptions;
  #rotation: Promise<void> | undefined;

  constructor(options: SerialLogOptions) {
    this.#options = options;
  }

  /** Puts the file aside if it has grown too long. */
  async rotate(): Promise<void> {
    this.#rotation ??= this.#rotateNow().finally(() => {
      this.#rotation = undefined;
    });
    await this.#rotation;
  }

  /** The last bytes, oldest first. */
  async tail(bytes: number): Promise<Uint8Array> {
    const parts: Buffer[] = [];
    let left = bytes;
    for (let index = 0; index <= this.#options.count && left > 0; index++) {
      const part = await readEnd(this.#partPath(index), left);
      if (part === undefined) continue;
      parts.unshift(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  async #rotateNow(): Promise<void> {
    const { path, sizeBytes, count } = this.#options;
    if (sizeOf(path) < sizeBytes) return;
    const copy = `${path}.new`;
    await rm(copy, { force: true });
    for (let index = count; index > 1; index--)
      await renameIfThere(this.#partPath(index - 1), this.#partPath(index));
    putAside(path, copy);
    await rename(copy, this.#partPath(1));
  }

  #partPath(index: number): string {
    return index === 0 ? this.#options.path : `${this.#options.path}.${index}`;
  }
}

/** Copies what is there and empties the file, in one go. */
function putAside(path: string, copy: string): void {
  const source = openSync(path, 'r+');
  const target = openSync(copy, 'wx', 0o600);
  try {
    const block = Buffer.alloc(blockBytes);
    for (let read = readSync(source, block); read > 0; read = readSync(source, block))
      writeSync(target, block, 0, read);
    fsyncSync(target);
    for (let read = readSync(source, block); read > 0; read = readSync(source, block))
      writeSync(target, block, 0, read);
    ftruncateSync(source, 0);
  } finally {
    closeSync(target);
    closeSync(source);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function readEnd(path: string, bytes: number): Promise<Buffer | undefined> {
  const size = sizeOf(path);
  if (size === 0) return undefined;
  const length = Math.min(size, bytes);
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
