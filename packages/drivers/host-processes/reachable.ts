import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const searchableByOthers = 0o001;

/** Whether every user may pass through all directories on the way to a path. What is not there yet does not stand in the way. */
export async function isReachable(path: string): Promise<boolean> {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const mode = (await stat(directory).catch(() => undefined))?.mode;
    if (mode !== undefined && (mode & searchableByOthers) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}
