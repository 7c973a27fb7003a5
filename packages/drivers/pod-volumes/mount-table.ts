import { readFile } from 'node:fs/promises';
import { runTool, tryTool } from './host-tools.ts';
import { refusals } from './refusals.ts';

export interface MountPoint {
  readonly path: string;
  /** Of the file system; the same for all places where it is mounted. */
  readonly device: string;
  readonly type: string;
  readonly isReadOnly: boolean;
  /** What is mounted and unmounted below is so in the mount namespaces that follow, too. */
  readonly isShared: boolean;
}

/** In the order in which they were made. */
export async function mountTable(): Promise<readonly MountPoint[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const words = before.split(' ');
    return {
      path: unescaped(words[4] ?? ''),
      device: words[2] ?? '',
      type: after.split(' ')[0] ?? '',
      isReadOnly: words[5]?.split(',').includes('ro') === true,
      isShared: words.slice(6).some((word) => word.startsWith('shared:')),
    };
  });
}

/** What is mounted at a place, the uppermost one; `undefined` if nothing is. */
export async function mountAt(path: string): Promise<MountPoint | undefined> {
  return (await mountTable()).findLast((mount) => mount.path === path);
}

export async function mountsBelow(directory: string): Promise<readonly MountPoint[]> {
  return (await mountTable()).filter(({ path }) => path.startsWith(`${directory}/`));
}

export async function mount(...args: readonly string[]): Promise<void> {
  await runTool('mount', '--no-canonicalize', ...args);
}

/** Until nothing is mounted there. @throws StatusError where it is in use */
export async function unmount(path: string): Promise<void> {
  while (await mountAt(path)) {
    const { status, errors } = await tryTool('umount', '--no-canonicalize', path);
    if (status !== 0 && (await mountAt(path))) throw refusals.diskBusy(errors.trim());
  }
}

/** As `unmount`; what is in use disappears here at once, and ends with its last user. */
export async function unmountAnyway(path: string): Promise<void> {
  while (await mountAt(path)) {
    const { status } = await tryTool('umount', '--no-canonicalize', path);
    if (status !== 0 && (await mountAt(path))) await runTool('umount', '--no-canonicalize', '--lazy', path);
  }
}

/** Blanks and the like are written as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
