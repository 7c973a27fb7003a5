import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { currentBootId, identityOf, isAlive } from '../qemu/process-identity.ts';

/** Whose it is, so that it can be told when nobody works in it any more. */
const namePattern = /^\.sheaf-bundle-(\d+)-(\d+)-([0-9a-f-]{36})-\w+$/;

/** A directory of this process beside what it makes; what makers that were killed have left there goes. */
export async function makeWorkDirectory(place: string, bootId = currentBootId()): Promise<string> {
  await removeAbandoned(place, bootId);
  const startTime = identityOf(process.pid, bootId)?.startTime ?? '0';
  return await mkdtemp(join(place, `.sheaf-bundle-${process.pid}-${startTime}-${bootId}-`));
}

/** Those of another boot may be another machine's, which shares the place. */
async function removeAbandoned(place: string, bootId: string): Promise<void> {
  for (const name of await readdir(place)) {
    const [, pid, startTime = '', boot] = namePattern.exec(name) ?? [];
    if (pid === undefined || boot !== bootId || isAlive({ pid: Number(pid), startTime, bootId }, bootId))
      continue;
    await rm(join(place, name), { recursive: true, force: true });
  }
}
