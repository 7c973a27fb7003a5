import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { engineName } from './engine-names.ts';
import { logPath } from './log-path.ts';

const blockBytes = 64 * 1024;
const newline = 10;

export interface LogFile {
  readonly path: string;
  readonly inode: number;
  readonly bytes: number;
  readonly changedAt: number;
}

/** Logs are kept under their sandbox, and outlive their container. `undefined` where there is none. */
export async function logDirectory(logs: string, containerId: string): Promise<string | undefined> {
  const name = engineName('container', containerId);
  for (const sandbox of await readdir(logs)) {
    const directory = join(logs, sandbox, name);
    if (existsSync(directory)) return directory;
  }
  return undefined;
}

/** All parts, the oldest first: each once and without a gap, also while they are put aside. */
export async function logFiles(directory: string): Promise<readonly LogFile[]> {
  for (let seen = await lookAt(directory); ; ) {
    const again = await lookAt(directory);
    // Names change one after the other: what was looked at meanwhile may be there twice, or not at all.
    if (isSame(seen, again)) return again;
    seen = again;
  }
}

function isSame(some: readonly LogFile[], others: readonly LogFile[]): boolean {
  if (some.length !== others.length) return false;
  return some.every(
    ({ path, inode }, index) => others[index]?.path === path && others[index].inode === inode,
  );
}

async function lookAt(directory: string): Promise<readonly LogFile[]> {
  const names = await readdir(directory).catch(() => []);
  const parts = names
    .flatMap((name) => (name === 'log' ? [0] : (/^log\.(\d+)$/.exec(name)?.slice(1).map(Number) ?? [])))
    .toSorted((a, b) => b - a);
  const files = await Promise.all(parts.map((part) => statOf(logPath(directory, part))));
  return files.filter((file) => file !== undefined);
}

async function statOf(path: string): Promise<LogFile | undefined> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return { path, inode: ino, bytes: size, changedAt: mtimeMs };
  } catch (error) {
    return ignoreAbsent(error);
  }
}

/** Put aside meanwhile: it is found under its next name. */
function ignoreAbsent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Under its name of now; `undefined` if it has been dropped. */
export async function openPart(file: LogFile): Promise<FileHandle | undefined> {
  const directory = dirname(file.path);
  for (;;) {
    const found = (await logFiles(directory)).find(({ inode }) => inode === file.inode);
    if (!found) return undefined;
    const handle = await open(found.path).catch(ignoreAbsent);
    if (handle && (await handle.stat()).ino === file.inode) return handle;
    await handle?.close();
  }
}

/** Where the last lines begin: in which file, and how far into it. */
export async function tailOf(
  files: readonly LogFile[],
  lines: number,
): Promise<{ readonly index: number; readonly offset: number }> {
  let wanted = lines;
  for (const [index, file] of [...files.entries()].toReversed()) {
    const handle = await openPart(file);
    if (!handle) continue;
    try {
      const { offset, found } = await tailOffset(handle, file.bytes, wanted);
      if (found >= wanted) return { index, offset };
      wanted -= found;
    } finally {
      await handle.close();
    }
  }
  return { index: 0, offset: 0 };
}

/** Reads from the end; so a long log costs no more than what is shown of it. */
async function tailOffset(
  handle: FileHandle,
  bytes: number,
  lines: number,
): Promise<{ readonly offset: number; readonly found: number }> {
  if (lines === 0) return { offset: bytes, found: 0 };
  const block = Buffer.alloc(blockBytes);
  let found = 0;
  for (let end = bytes; end > 0; end -= blockBytes) {
    const start = Math.max(0, end - blockBytes);
    await handle.read(block, 0, end - start, start);
    for (let at = end - start - 1; at >= 0; at--) {
      // The line end of the last line begins no further one.
      if (block[at] !== newline || start + at === bytes - 1) continue;
      found++;
      if (found === lines) return { offset: start + at + 1, found };
    }
  }
  return { offset: 0, found: bytes > 0 ? found + 1 : 0 };
}
