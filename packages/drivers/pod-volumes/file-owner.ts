import { chmod, chown, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const setGroup = 0o2000;
/** What a group gets where it may write. */
const writable = { file: 0o660, directory: 0o770 | setGroup };

/** Gives a directory, and all that is made in it later, to a group that may write there. */
export async function giveToGroup(path: string, group: number): Promise<void> {
  const { uid, mode } = await lstat(path);
  await chown(path, uid, group);
  // Where the owner changes, the kernel takes bits away: so they come afterwards.
  await chmod(path, (mode & 0o7777) | writable.directory);
}

/**
 * Gives all of a tree to a group, as far as it is one file system. The uppermost directory is last: as long as that is not given, the
 * rest may not be, and where it is, nothing is done.
 */
export async function giveTreeToGroup(path: string, group: number): Promise<void> {
  const { gid, mode, dev } = await lstat(path);
  if (gid === group && (mode & writable.directory) === writable.directory) return;
  await giveInner(path, group, dev);
  await giveToGroup(path, group);
}

async function giveInner(directory: string, group: number, device: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const stats = await lstat(path);
    const { dev, uid, mode } = stats;
    if (dev !== device) continue;
    await lchown(path, uid, group);
    if (stats.isFile()) await chmod(path, (mode & 0o7777) | writable.file);
    if (stats.isDirectory()) {
      await giveInner(path, group, device);
      await giveToGroup(path, group);
    }
  }
}
