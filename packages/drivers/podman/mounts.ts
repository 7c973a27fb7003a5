import { readFile } from 'node:fs/promises';
import { runProgram } from '../qemu/run-program.ts';

/** Takes away all mounts below a directory, the last one first. Nothing there: nothing to do. */
export async function unmountBelow(directory: string): Promise<void> {
  const found = await mountsBelow(directory);
  for (const path of found.toReversed()) await unmount(path);
}

/** Places of mounts below a directory, in the order in which they were made. */
export async function mountsBelow(directory: string): Promise<readonly string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  return table
    .split('\n')
    .map((line) => unescaped(line.split(' ')[4] ?? ''))
    .filter((path) => path.startsWith(`${directory}/`));
}

/** @throws Error with the tool's words, if it is still mounted */
export async function unmount(path: string): Promise<void> {
  const { status, errors } = await runProgram('umount', ['--lazy', '--no-canonicalize', path]);
  if (status !== 0 && !/not mounted|no mount point/.test(errors))
    throw new Error(`umount ${path}: ${errors.trim()}`);
}

/** Blanks and the like are written as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
