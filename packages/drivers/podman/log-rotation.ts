import { constants } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '@sheaf/base';
import { logPath } from './log-path.ts';

export interface RotationOptions {
  /** Where the log is. */
  readonly directory: string;
  /** Through which conmon is told to open its log anew. */
  readonly controlPath: string;
  readonly maxBytes: number;
  readonly maxParts: number;
  readonly clock: Clock;
}

/** In the words of conmon: open the log again. */
const reopen = '2 0 0\n';
const pollMs = 10;
const patienceMs = 2000;

/**
 * Puts a log aside that has become too long. The file is renamed and conmon told to open another one, so no line is lost; it goes
 * on writing to the renamed one until it has. One that was cut off between both is gone on with.
 */
export async function rotateLog(options: RotationOptions): Promise<void> {
  const { directory, maxBytes, maxParts } = options;
  const bytes = await sizeOf(logPath(directory, 0));
  if (bytes === undefined) {
    if ((await sizeOf(logPath(directory, 1))) !== undefined) await openAnew(options);
    return;
  }
  if (bytes <= maxBytes) return;
  await rm(logPath(directory, maxParts), { force: true });
  for (let part = maxParts - 1; part >= 0; part--)
    await rename(logPath(directory, part), logPath(directory, part + 1)).catch(ignoreAbsent);
  if (!(await openAnew(options))) await rename(logPath(directory, 1), logPath(directory, 0));
}

/** Where conmon listens for one of the engine's containers. */
export function controlPath(storage: { directory: string; driver: string }, engineId: string): string {
  return join(storage.directory, `${storage.driver}-containers`, engineId, 'userdata', 'ctl');
}

/** @returns false if nobody is there to be told */
async function openAnew({ controlPath: path, directory, clock }: RotationOptions): Promise<boolean> {
  try {
    const control = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      await control.write(reopen);
    } finally {
      await control.close();
    }
  } catch {
    // It has ended, and its log with it.
    return (await sizeOf(logPath(directory, 0))) !== undefined;
  }
  const end = clock.monotonic() + patienceMs;
  while (clock.monotonic() < end) {
    if ((await sizeOf(logPath(directory, 0))) !== undefined) return true;
    await sleep(clock, pollMs);
  }
  // It was told, and will come to it.
  return true;
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

function ignoreAbsent(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
