import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, type DatabaseSync } from 'node:sqlite';
import { StoreFault } from '../../contract.ts';
import { syncDirectory } from './durable-files.ts';
import { toStoreFault } from './faults.ts';

/** Pages copied at a time; in between the store goes on. */
const pagesPerStep = 64;

/** Copies the database while it is in use. `to` appears once the copy is complete and durable. @throws StoreFault */
export async function writeBackup(
  database: DatabaseSync,
  paths: { readonly from: string; readonly to: string },
): Promise<void> {
  const partial = `${paths.to}.partial`;
  if (existsSync(paths.to)) {
    throw new StoreFault('io', `${paths.to} exists already`, 'Choose a new name for the backup.');
  }
  try {
    rmSync(partial, { force: true });
    // Created first, so that nobody else can read it at any moment.
    closeSync(openSync(partial, 'wx', 0o600));
    await backup(database, partial, { rate: pagesPerStep });
    syncPath(partial);
    renameSync(partial, paths.to);
    syncDirectory(dirname(paths.to));
  } catch (error) {
    rmSync(partial, { force: true });
    throw toStoreFault(error, paths.to);
  }
}

export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
