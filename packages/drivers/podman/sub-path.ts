import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath, writeFile } from 'node:fs/promises';
import { isAbsolute, join, normalize, relative } from 'node:path';
import { badRequest } from '@sheaf/base';
import type { ContainerMount } from '@sheaf/ports';
import { runProgram } from '../qemu/run-program.ts';

/** Opens a place without reading it: Node has no name for this flag. */
const pathOnly = 0o10000000;

/**
 * Holds a part of a directory in a place of its own, whatever happens to the names on the way to it afterwards. A container that
 * shares the directory could otherwise put a symbolic link there between the look and the mount, and have any place of the host.
 *
 * @throws StatusError for a path that leads out, or through a symbolic link, or is not there
 */
export async function holdSubPath(mount: ContainerMount, place: string): Promise<string> {
  const { base, parts } = await resolved(mount);
  const handles: FileHandle[] = [];
  try {
    let handle = await open(base, pathOnly);
    handles.push(handle);
    for (const part of parts) {
      handle = await openBelow(handle, part, mount);
      handles.push(handle);
    }
    const isDirectory = (await handle.stat()).isDirectory();
    await mkdir(isDirectory ? place : join(place, '..'), { recursive: true, mode: 0o700 });
    if (!isDirectory) await writeFile(place, '');
    const source = `/proc/${process.pid}/fd/${handle.fd}`;
    const { status, errors } = await runProgram('mount', ['--no-canonicalize', '--bind', source, place]);
    if (status !== 0) throw new Error(`mount ${mount.subPath}: ${errors.trim()}`);
    return place;
  } finally {
    for (const handle of handles) await handle.close();
  }
}

/** Links that lead to places inside are followed now; what follows takes none. */
async function resolved({
  hostPath,
  subPath = '',
}: ContainerMount): Promise<{ readonly base: string; readonly parts: readonly string[] }> {
  const leadsOut = badRequest(`${JSON.stringify(subPath)} leads out of ${hostPath}: name a path below it`);
  if (isAbsolute(subPath) || normalize(subPath).split('/').includes('..')) throw leadsOut;
  const base = await realpath(hostPath);
  const place = await realpath(join(base, subPath)).catch(() => {
    throw badRequest(`there is no ${subPath} in ${hostPath}: make it first`);
  });
  if (place !== base && !place.startsWith(`${base}/`)) throw leadsOut;
  return {
    base,
    parts: relative(base, place)
      .split('/')
      .filter((part) => part !== ''),
  };
}

async function openBelow(parent: FileHandle, name: string, mount: ContainerMount): Promise<FileHandle> {
  const handle = await open(`/proc/self/fd/${parent.fd}/${name}`, pathOnly | constants.O_NOFOLLOW);
  if (!(await handle.stat()).isSymbolicLink()) return handle;
  await handle.close();
  throw badRequest(`${mount.subPath} in ${mount.hostPath} changes while it is looked at: try again`);
}
