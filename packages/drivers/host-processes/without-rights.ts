import { spawnSync } from 'node:child_process';
import { findProgram } from '../qemu/run-program.ts';

const flags = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
let known: readonly string[] | undefined;

/**
 * What goes before a command so that it can do nothing to the kernel, other users' files or their processes, though it runs as the
 * administrator: it has none of his capabilities. Empty where that cannot be had, which is tried once.
 */
export function withoutRights([program = '']: readonly string[]): readonly string[] {
  known ??= tried();
  // One that is not there fails with its own name.
  return findProgram(program) === undefined ? [] : known;
}

function tried(): readonly string[] {
  const program = process.getuid?.() === 0 ? findProgram('setpriv') : undefined;
  if (program === undefined) return [];
  const words = [program, ...flags];
  const { status } = spawnSync(program, [...flags, process.execPath, '--version'], {
    env: {},
    stdio: 'ignore',
  });
  return status === 0 ? words : [];
}
