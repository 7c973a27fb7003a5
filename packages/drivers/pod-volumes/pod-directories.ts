import { chmod, lstat, mkdir, mkdtemp, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PodVolumeSpec } from '@sheaf/ports';
import { isMissing } from './directory-layout.ts';
import { giveToGroup } from './file-owner.ts';
import { mount, mountAt } from './mount-table.ts';

type DirectoryVolume = Extract<PodVolumeSpec, { kind: 'directory' }>;

/** An empty directory that everybody may write to, until the pod ends. */
export async function ensureDirectory(path: string, volume: DirectoryVolume): Promise<void> {
  if (volume.medium === 'memory') await ensureInMemory(path, volume);
  else if (!(await isThere(path))) await makeOnDisk(path, volume.group);
}

/** It has its name when it has its owner. */
async function makeOnDisk(path: string, group: number | undefined): Promise<void> {
  const fresh = await mkdtemp(join(dirname(path), '.making-'));
  await chmod(fresh, 0o777);
  if (group !== undefined) await giveToGroup(fresh, group);
  await rename(fresh, path);
}

async function ensureInMemory(path: string, { sizeBytes, group }: DirectoryVolume): Promise<void> {
  if (await mountAt(path)) return;
  await mkdir(path, { recursive: true });
  const options = [
    sizeBytes !== undefined && `size=${Math.max(1, Math.ceil(sizeBytes))}`,
    group === undefined ? 'mode=0777' : `mode=2777,gid=${group}`,
  ];
  await mount('-t', 'tmpfs', '-o', options.filter((option) => option !== false).join(','), 'tmpfs', path);
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
