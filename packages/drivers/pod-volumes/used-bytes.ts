import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from './directory-layout.ts';

const blockBytes = 512;

/** What a tree takes of its file system; files with several names count once. */
export async function usedBytesOf(directory: string, signal: AbortSignal): Promise<number> {
  const { dev, blocks } = await lstat(directory);
  const seen = new Set<number>();
  let sum = blocks * blockBytes;
  const directories = [directory];
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    signal.throwIfAborted();
    for (const path of await pathsIn(next)) {
      const stats = await lstat(path).catch(goneMeanwhile);
      if (stats?.dev !== dev || seen.has(stats.ino)) continue;
      if (stats.nlink > 1 && !stats.isDirectory()) seen.add(stats.ino);
      sum += stats.blocks * blockBytes;
      if (stats.isDirectory()) directories.push(path);
    }
  }
  return sum;
}

async function pathsIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(goneMeanwhile);
  return (names ?? []).map((name) => join(directory, name));
}

function goneMeanwhile(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
