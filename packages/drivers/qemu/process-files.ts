import { readdir, stat } from 'node:fs/promises';

/**
 * True where a process has open what is at a path now. What it opened there before may have got another name, or none, and the path may
 * lead to another file.
 */
export async function hasOpen(pid: number, path: string): Promise<boolean> {
  const wanted = await statIfThere(path);
  if (!wanted) return false;
  const directory = `/proc/${pid}/fd`;
  for (const name of await namesIfThere(directory)) {
    const found = await statIfThere(`${directory}/${name}`);
    if (found?.ino === wanted.ino && found.dev === wanted.dev) return true;
  }
  return false;
}

/** Of a process that is gone there are none. */
async function namesIfThere(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    return ignoreMissing(error) ?? [];
  }
}

async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    return ignoreMissing(error);
  }
}

function ignoreMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ESRCH' && code !== 'ENOTDIR') throw error;
}
