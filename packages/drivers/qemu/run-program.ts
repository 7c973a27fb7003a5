import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

export interface ProgramResult {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a short program to its end, or ends it after `limitMs`. Status -1: it was ended, or could not be run. */
export function runProgram(
  program: string,
  args: readonly string[],
  limitMs = 10_000,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      [...args],
      { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024 },
      (error, output, errors) => {
        const status = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
        resolve({ status, output, errors: errors || (error?.message ?? '') });
      },
    );
    child.stdin?.end();
  });
}

/** Where a program is; `undefined` if it is nowhere on the search path, or not at its path. */
export function findProgram(name: string): string | undefined {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin', '/usr/bin'];
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
