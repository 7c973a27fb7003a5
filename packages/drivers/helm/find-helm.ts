import { join } from 'node:path';
import { findProgram } from '../qemu/run-program.ts';

/** Helm on the PATH, else in one of the directories; looked for each time, since it may come while Sheaf runs. */
export function findHelm(directories: readonly string[]): string | undefined {
  const places = ['helm', ...directories.map((directory) => join(directory, 'helm'))];
  return places.map(findProgram).find((path) => path !== undefined);
}
