import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VolumeFile } from '@sheaf/ports';
import { isMissing, namesIn } from './directory-layout.ts';
import { refusals } from './refusals.ts';

/** Leads to the directory that has the files now. */
const dataLink = '..data';
const contentPrefix = '..content-';
const setGroup = 0o2000;
/** Files from the API are read by their group, never written. */
const readable = { file: 0o440, directory: 0o550 | setGroup };

export interface FileSet {
  readonly files: readonly VolumeFile[];
  readonly group?: number;
}

/**
 * Makes a directory have these files. They are in a hidden directory that is never changed once `..data` leads to it; names that
 * are seen lead through that link. So all change in one instant, and nothing is written where nothing has changed.
 */
export async function writeFiles(directory: string, set: FileSet): Promise<void> {
  for (const { path } of set.files) checkPath(path);
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await chmod(directory, 0o755);
  if (set.group !== undefined) await giveReadable(directory, set.group);
  const current = await currentContent(directory);
  if (current === undefined || !(await hasFiles(join(directory, current), set)))
    await switchTo(directory, await writeContent(directory, set));
  await showNames(directory, set.files);
  await removeOld(directory, set.files);
}

/** Whether files were put here. */
export async function hasContent(directory: string): Promise<boolean> {
  return (await currentContent(directory)) !== undefined;
}

function checkPath(path: string): void {
  const parts = path.split('/');
  const isGood =
    path.length <= 4096 &&
    !path.includes('\0') &&
    !path.startsWith('..') &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= 255);
  if (!isGood) throw refusals.badPath(path);
}

async function currentContent(directory: string): Promise<string | undefined> {
  try {
    const target = await readlink(join(directory, dataLink));
    return target.startsWith(contentPrefix) && !target.includes('/') ? target : undefined;
  } catch (error) {
    // No link there: someone in a container has put something else in its place.
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw error;
  }
}

async function hasFiles(content: string, { files, group }: FileSet): Promise<boolean> {
  const wanted = new Set(files.map(({ path }) => path));
  const found = await filesIn(content);
  if (found.length !== wanted.size || found.some((path) => !wanted.has(path))) return false;
  for (const file of files) if (!(await isSame(join(content, file.path), file, group))) return false;
  return true;
}

async function isSame(path: string, file: VolumeFile, group: number | undefined): Promise<boolean> {
  const stats = await lstat(path);
  if (!stats.isFile() || (stats.mode & 0o7777) !== modeOf(file, group)) return false;
  if (group !== undefined && stats.gid !== group) return false;
  return stats.size === file.bytes.length && (await readFile(path)).equals(file.bytes);
}

/** Paths of all that is no directory. */
async function filesIn(directory: string, prefix = ''): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await namesIn(join(directory, prefix))) {
    const path = prefix === '' ? name : `${prefix}/${name}`;
    const isDirectory = (await lstat(join(directory, path))).isDirectory();
    if (isDirectory) found.push(...(await filesIn(directory, path)));
    else found.push(path);
  }
  return found;
}

async function writeContent(directory: string, { files, group }: FileSet): Promise<string> {
  const content = await mkdtemp(join(directory, contentPrefix));
  await chmod(content, 0o755);
  if (group !== undefined) await giveReadable(content, group);
  for (const file of files) {
    const parents = parentsOf(file.path);
    for (const parent of parents) await makeParent(join(content, parent), group);
    await writeOne(join(content, file.path), file, group);
  }
  return content.slice(dirname(content).length + 1);
}

/** `a/b/c` has `a` and `a/b`. */
function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

async function makeParent(path: string, group: number | undefined): Promise<void> {
  const made = await mkdir(path, { recursive: true });
  if (made === undefined) return;
  await chmod(path, 0o755);
  if (group !== undefined) await giveReadable(path, group);
}

async function giveReadable(path: string, group: number): Promise<void> {
  const { uid, mode } = await lstat(path);
  await chown(path, uid, group);
  await chmod(path, (mode & 0o7777) | readable.directory);
}

async function writeOne(path: string, file: VolumeFile, group: number | undefined): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(file.bytes);
    if (group !== undefined) await handle.chown((await handle.stat()).uid, group);
    await handle.chmod(modeOf(file, group));
  } finally {
    await handle.close();
  }
}

function modeOf({ mode }: VolumeFile, group: number | undefined): number {
  return group === undefined ? mode & 0o7777 : (mode & 0o7777) | readable.file;
}

async function switchTo(directory: string, content: string): Promise<void> {
  await putLink(directory, dataLink, content);
}

/** A link, in one step, whatever is there now but a directory. */
async function putLink(directory: string, name: string, target: string): Promise<void> {
  const fresh = join(directory, '..link.new');
  await rm(fresh, { recursive: true, force: true });
  await symlink(target, fresh);
  await rename(fresh, join(directory, name));
}

/** The first part of each path: a file, or a directory with all that is in it. */
function shownNames(files: readonly VolumeFile[]): ReadonlySet<string> {
  return new Set(files.map(({ path }) => path.split('/')[0] ?? path));
}

async function showNames(directory: string, files: readonly VolumeFile[]): Promise<void> {
  for (const name of shownNames(files)) {
    const target = `${dataLink}/${name}`;
    const found = await readlink(join(directory, name)).catch(() => undefined);
    if (found === target) continue;
    await rm(join(directory, name), { recursive: true, force: true });
    await putLink(directory, name, target);
  }
}

/** Takes away what no longer leads anywhere. */
async function removeOld(directory: string, files: readonly VolumeFile[]): Promise<void> {
  const shown = shownNames(files);
  const current = await currentContent(directory);
  for (const name of await namesIn(directory)) {
    const isKept = name === dataLink || name === current || shown.has(name);
    if (!isKept) await rm(join(directory, name), { recursive: true, force: true });
  }
}
