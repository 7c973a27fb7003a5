import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, realpath, writeFile } from 'node:fs/promises';
import { isAbsolute, join, normalize, relative } from 'node:path';
import { badRequest, toError } from '@sheaf/base';
import type { ContainerMount } from '@sheaf/ports';
import { runProgram } from '../qemu/run-program.ts';

/** Opens a place without reading it: Node has no name for this flag. */
const pathOnly = 0o10000000;
const permissions = 0o7777;

/** A part of a directory: what is to be mounted, without links on the way. */
export interface SubPathPlace {
  readonly base: string;
  readonly parts: readonly string[];
}

/**
 * Holds a part of a directory in a place of its own, whatever happens to the names on the way to it afterwards. A container that
 * shares the directory could otherwise put a symbolic link there between the look and the mount, and have any place of the host.
 * Where there is nothing a directory is made, with the rights of the whole one.
 *
 * @throws StatusError for a path that leads out, or through a symbolic link, or cannot be made
 */
export async function holdSubPath(mount: ContainerMount, place: string): Promise<string> {
  const { base, parts } = await placeOf(mount);
  const handles: FileHandle[] = [];
  try {
    const root = await open(base, pathOnly);
    handles.push(root);
    const mode = (await root.stat()).mode & permissions;
    let handle = root;
    for (const part of parts) {
      handle = await openBelow(handle, part, { mount, mode });
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

/** Links that lead to places inside are followed. The last parts may not be there yet. @throws StatusError for one that leads out */
export async function placeOf({ hostPath, subPath = '' }: ContainerMount): Promise<SubPathPlace> {
  const leadsOut = badRequest(`${JSON.stringify(subPath)} leads out of ${hostPath}: name a path below it`);
  if (isAbsolute(subPath) || normalize(subPath).split('/').includes('..')) throw leadsOut;
  const base = await realpath(hostPath);
  const place = await followed(base, partsOf(normalize(subPath)));
  if (place !== base && !place.startsWith(`${base}/`)) throw leadsOut;
  return { base, parts: partsOf(relative(base, place)) };
}

function partsOf(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** As far as there is anything. */
async function followed(base: string, parts: readonly string[]): Promise<string> {
  try {
    return await realpath(join(base, ...parts));
  } catch (error) {
    const last = parts.at(-1);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || last === undefined) throw error;
    return join(await followed(base, parts.slice(0, -1)), last);
  }
}

interface Wanted {
  readonly mount: ContainerMount;
  readonly mode: number;
}

async function openBelow(parent: FileHandle, name: string, { mount, mode }: Wanted): Promise<FileHandle> {
  const path = `/proc/self/fd/${parent.fd}/${name}`;
  const found = await openPlace(path);
  const handle = found ?? (await makeBelow(path, { mount, mode }));
  if (!(await handle.stat()).isSymbolicLink()) return handle;
  await handle.close();
  throw badRequest(`${mount.subPath} in ${mount.hostPath} changes while it is looked at: try again`);
}

/** `undefined` where there is nothing. */
async function openPlace(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, pathOnly | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function makeBelow(path: string, { mount, mode }: Wanted): Promise<FileHandle> {
  try {
    await mkdir(path);
    const handle = await open(path, pathOnly | constants.O_NOFOLLOW | constants.O_DIRECTORY);
    // Whatever this process masks off new files.
    await chmod(`/proc/self/fd/${handle.fd}`, mode);
    return handle;
  } catch (error) {
    throw badRequest(
      `there is no ${mount.subPath} in ${mount.hostPath}, and it cannot be made: ${toError(error).message}`,
    );
  }
}
