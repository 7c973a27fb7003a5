import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The file is there with all of `text`, or as it was before; also after a loss of power. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  await syncDirectory(dirname(path));
}

/** Puts a finished file into its place, where another may be. Both are on one file system. */
export async function placeDurably(from: string, to: string): Promise<void> {
  await syncFile(from);
  await rename(from, to);
  await syncDirectory(dirname(to));
}

/** Files that are not there are no error. */
export async function removeDurably(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
  for (const directory of new Set(paths.map(dirname))) await syncDirectory(directory);
}

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function syncDirectory(path: string): Promise<void> {
  await syncFile(path);
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}

/** The file system, or the share of it that may be used, is full. */
export function isFull(error: unknown): boolean {
  if (error instanceof Error && isFull(error.cause)) return true;
  return hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT') || hasCode(error, 'EFBIG');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
