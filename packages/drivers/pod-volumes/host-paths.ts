import type { Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { PodVolumeSpec } from '@sheaf/ports';
import { isMissing } from './directory-layout.ts';
import { refusals } from './refusals.ts';

type HostVolume = Extract<PodVolumeSpec, { kind: 'host' }>;
type HostPathType = HostVolume['type'];

interface Demand {
  readonly word: string;
  readonly isMet: (stats: Stats) => boolean;
}

const directory: Demand = { word: 'a directory', isMet: (stats) => stats.isDirectory() };
const file: Demand = { word: 'a file', isMet: (stats) => stats.isFile() };

const demands: Readonly<Record<Exclude<HostPathType, ''>, Demand>> = {
  Directory: directory,
  DirectoryOrCreate: directory,
  File: file,
  FileOrCreate: file,
  Socket: { word: 'a socket file', isMet: (stats) => stats.isSocket() },
  CharDevice: { word: 'a character device', isMet: (stats) => stats.isCharacterDevice() },
  BlockDevice: { word: 'a block device', isMet: (stats) => stats.isBlockDevice() },
};

/** Sees that what a pod names is there and is what it says, or makes it where it may. */
export async function ensureHostPath({ path, type }: Pick<HostVolume, 'path' | 'type'>): Promise<string> {
  if (!isAbsolute(path) || path.includes('\0') || path.split('/').includes('..'))
    throw refusals.badHostPath(path);
  const found = await stat(path).catch(nothingThere);
  if (found === undefined && (await isMade(path, type))) return path;
  if (type === '') return path;
  const { word, isMet } = demands[type];
  if (found === undefined || !isMet(found))
    throw refusals.wrongHostPath(`hostPath type check failed: ${path} is not ${word}`, found !== undefined);
  return path;
}

/** Where nothing is said, runtimes make a directory. */
async function isMade(path: string, type: HostPathType): Promise<boolean> {
  switch (type) {
    case '':
    case 'DirectoryOrCreate':
      await mkdir(path, { recursive: true, mode: 0o755 });
      return true;
    case 'FileOrCreate':
      await (await open(path, 'a', 0o644)).close();
      return true;
    default:
      return false;
  }
}

function nothingThere(error: unknown): undefined {
  const isAbsent = isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR';
  if (!isAbsent) throw error;
}
