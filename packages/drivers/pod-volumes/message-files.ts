import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import type { DirectoryLayout } from './directory-layout.ts';
import { isMissing } from './directory-layout.ts';

const longestMessage = 4096;

/** Last words of containers, a file for each of their runs. */
export class MessageFiles {
  readonly #layout: DirectoryLayout;

  constructor(layout: DirectoryLayout) {
    this.#layout = layout;
  }

  async ensure(podUid: string, runId: string): Promise<string> {
    const path = this.#layout.message(podUid, runId);
    await mkdir(this.#layout.messages(podUid), { recursive: true, mode: 0o700 });
    const { O_CREAT, O_TRUNC, O_WRONLY, O_NOFOLLOW } = constants;
    const file = await open(path, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0o666);
    try {
      // Whoever the process of the container is.
      await file.chmod(0o666);
    } finally {
      await file.close();
    }
    return path;
  }

  async read(podUid: string, runId: string): Promise<string> {
    const path = this.#layout.message(podUid, runId);
    let file: FileHandle;
    try {
      file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      if (isMissing(error)) return '';
      throw error;
    }
    try {
      return await endOf(file);
    } finally {
      await file.close();
    }
  }
}

/** Whole characters only: one that begins before is left out. */
async function endOf(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  const start = Math.max(0, size - longestMessage);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, longestMessage)), {
    position: start,
  });
  let first = 0;
  while (start > 0 && first < 3 && ((buffer[first] ?? 0) & 0xc0) === 0x80) first++;
  return buffer.subarray(first, bytesRead).toString();
}
