import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock } from '@sheaf/drivers/system';
import { restoreBackup } from '@sheaf/store';
import type { Arguments } from './arguments.ts';
import { restoreKeys } from './key-archive.ts';
import { runShape } from './run-command.ts';

const usage = `Usage: sheaf restore FILE [options]

Puts a backup in place of the store of a server that does not run. What was there is kept beside it as
store.db.replaced. Keys and certificates in FILE.keys are added to those of the data directory; none is replaced.

  --data-dir DIR   the data directory of the server; made if missing
  --without-keys   do not look at FILE.keys
`;

/** `sheaf restore FILE`. */
export function restore(args: readonly string[]): Promise<number> {
  const options = { 'without-keys': { type: 'boolean' } } as const;
  return runShape({ name: 'restore', usage, positionals: 1, options, run }, args);
}

async function run({ positionals: [path = ''], flags, dataDir }: Arguments): Promise<number> {
  const from = resolve(path);
  const keys = flags['without-keys'] ? undefined : await readIfThere(`${from}.keys`);
  const revision = restoreBackup({ from, directory: dataDir, clock: systemClock });
  process.stdout.write(`store: restored in ${dataDir}; it goes on from revision ${revision}\n`);
  if (keys === undefined) {
    process.stdout.write(`keys:  none restored; those in ${join(dataDir, 'certificates')} are used\n`);
    return 0;
  }
  const written = await restoreKeys(keys, join(dataDir, 'certificates'));
  process.stdout.write(
    `keys:  ${written.length === 0 ? 'all are there' : `restored ${written.join(', ')}`}\n`,
  );
  return 0;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
