import { type Clock, StatusError, sleep } from '@sheaf/base';
import type { MachineDisk } from '@sheaf/ports';
import type { ChangedMachine } from './device-changes.ts';
import { fileNames } from './device-names.ts';
import type { MachineHost } from './host.ts';
import type { Machine } from './machine.ts';
import { pathIn } from './machine-facts.ts';
import type { MachineFiles } from './machine-files.ts';
import type { MachineLink } from './machine-link.ts';
import { hasOpen } from './process-files.ts';
import { objectAt, objectsIn, textAt } from './qmp-client.ts';

/** Whether a machine that has a file open for writing, and its lock, may write to it. */
export type FileGuard = (path: string) => Promise<boolean>;

type GuardHost = Pick<MachineHost, 'mayWrite' | 'clock' | 'limits'>;

const pollMs = 20;

/** The path may lead to another file than the one that was opened there: then there is no lock on what the path stands for. */
export function guardOf(files: MachineFiles, { mayWrite }: Pick<MachineHost, 'mayWrite'>): FileGuard {
  return async (path) => {
    const identity = await files.readProcess(fileNames.machine);
    return identity !== undefined && (await mayWrite(path)) && (await hasOpen(identity.pid, path));
  };
}

/**
 * The processors run on. Until then nothing has been written, and the locks of all files are held: what may be written to now stays so.
 * @throws StatusError, and the machine ends, where it has opened what is to be written to no more
 */
export async function resume(machine: Machine, host: GuardHost): Promise<void> {
  const path = await machine.whileAnswering(async (changed) => {
    await untilLocked(changed.link, host);
    return await findOutdated(changed);
  });
  if (path === undefined) {
    await machine.execute('cont');
    return;
  }
  const message = `the volume behind ${path} has gone on in another file while the machine was being started: start it again`;
  await machine.end({ cause: 'start-failed', message });
  throw new StatusError({ reason: 'Conflict', message: `machine ${machine.id}: ${message}` });
}

/** @throws StatusError for a disk whose file is open, where its volume has gone on in another one */
export async function confirmFile(
  { mayWrite }: Pick<ChangedMachine, 'mayWrite'>,
  { name, file, isReadOnly, device }: MachineDisk,
): Promise<void> {
  if (!file || isReadOnly === true || device === 'cdrom' || (await mayWrite(file.path))) return;
  throw new StatusError({
    reason: 'Conflict',
    message: `the volume of disk ${name} has gone on in another file than ${file.path} while it was opened: try again`,
  });
}

async function findOutdated({
  link,
  mayWrite,
}: Pick<ChangedMachine, 'link' | 'mayWrite'>): Promise<string | undefined> {
  for (const drive of objectsIn(await link.execute('query-block'))) {
    const path = pathIn(drive);
    const isWritten = objectAt(drive, 'inserted')['ro'] === false;
    if (isWritten && path !== undefined && !(await mayWrite(path))) return path;
  }
  return undefined;
}

/** As long as its memory comes in, a machine holds no locks. @throws StatusError where that takes longer than a start may */
export async function untilLocked(
  link: Pick<MachineLink, 'execute'>,
  { clock, limits }: { readonly clock: Clock; readonly limits: { readonly startMs: number } },
): Promise<void> {
  const end = clock.monotonic() + limits.startMs;
  while (textAt(await link.execute('query-status'), 'status') === 'inmigrate') {
    if (clock.monotonic() >= end)
      throw new StatusError({
        reason: 'ServerTimeout',
        message:
          'the memory that the machine goes on with is still being read: try again, or end the machine',
      });
    await sleep(clock, pollMs);
  }
}
