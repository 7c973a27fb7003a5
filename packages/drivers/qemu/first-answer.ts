import type { MachineEnd } from '@sheaf/ports';
import { fileNames } from './device-names.ts';
import { DirectoryWatch } from './directory-watch.ts';
import type { MachineHost } from './host.ts';
import type { Launching } from './launcher.ts';
import type { MachineFiles } from './machine-files.ts';
import type { ProcessIdentity } from './process-identity.ts';

export type FirstAnswer = 'there' | 'none yet' | MachineEnd;

export interface AwaitedMachine {
  readonly files: MachineFiles;
  readonly host: MachineHost;
  /** Absent where a life before this one launched it. */
  readonly launching: Launching | undefined;
}

/** It listens a moment after its socket has come. */
const pollMs = 5;
/** For a process that ends before it listens: what comes into its directory is seen at once. */
const watchedPollMs = 50;

/** Asks a process until it answers, or is over. `undefined`: there was no answer in time. */
export async function untilAnswered(
  machine: AwaitedMachine,
  ask: (identity: ProcessIdentity) => Promise<FirstAnswer>,
): Promise<Exclude<FirstAnswer, 'none yet'> | undefined> {
  const { clock, limits } = machine.host;
  const names = [fileNames.control];
  const watch = new DirectoryWatch(machine.files.directory, { clock, names });
  try {
    const limit = clock.monotonic() + limits.startMs;
    while (clock.monotonic() <= limit) {
      const answer = await lookOnce(machine, ask);
      if (answer !== 'none yet') return answer;
      const isToCome = watch.isWatching && !watch.hasSeen(fileNames.control);
      await watch.next(isToCome ? watchedPollMs : pollMs);
    }
    return undefined;
  } finally {
    watch.dispose();
  }
}

async function lookOnce(
  { files, launching }: AwaitedMachine,
  ask: (identity: ProcessIdentity) => Promise<FirstAnswer>,
): Promise<FirstAnswer> {
  const identity = await files.readProcess(fileNames.machine);
  if (identity) return await ask(identity);
  const end = launching?.end;
  // It may have come up and gone in between.
  if (end?.kind !== 'exited' || (await files.readProcess(fileNames.machine))) return 'none yet';
  return { cause: 'start-failed', message: `the launcher ended with ${end.status}` };
}
