import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type Clock, sleep } from '@sheaf/base';
import { fileNames } from './device-names.ts';
import { launch } from './launch.ts';
import type { MachineFiles } from './machine-files.ts';
import { isAlive, signalProcess, waitForExit } from './process-identity.ts';

export interface TpmHost {
  readonly program: string;
  readonly bootId: string;
  readonly clock: Clock;
  readonly limitMs: number;
}

const pollMs = 5;

/** Starts the machine's TPM, or finds it running. It ends when the machine lets go of it. */
export async function ensureTpm(files: MachineFiles, stateDirectory: string, host: TpmHost): Promise<void> {
  const earlier = await files.readProcess(fileNames.tpmProcess);
  if (earlier && isAlive(earlier, host.bootId)) return;
  // It was started for a machine that then did not start.
  await rm(files.path(`${fileNames.tpmProcess}.process`), { force: true });
  await rm(files.path(fileNames.tpm), { force: true });
  const { ended } = launch({
    directory: files.directory,
    name: fileNames.tpmProcess,
    program: host.program,
    args: [
      ...['socket', '--tpm2', '--tpmstate', `dir=${stateDirectory},mode=0600`],
      ...['--ctrl', `type=unixio,path=${fileNames.tpm},mode=0600`, '--terminate'],
    ],
  });
  let end: string | undefined;
  void ended.then((how) => {
    end = how.kind === 'exited' ? how.status : how.kind;
  });
  const limit = host.clock.monotonic() + host.limitMs;
  // It serves one connection and ends with it, so nobody may knock.
  while (!existsSync(files.path(fileNames.tpm))) {
    if (end !== undefined || host.clock.monotonic() > limit)
      throw new Error(
        `the TPM did not start (${end ?? 'no socket in time'}): ${await files.lastWords(fileNames.tpmProcess)}`,
      );
    await sleep(host.clock, pollMs);
  }
}

/** Ends the machine's TPM, if it still runs. */
export async function endTpm(files: MachineFiles, host: Omit<TpmHost, 'program'>): Promise<void> {
  const identity = await files.readProcess(fileNames.tpmProcess);
  if (!identity) return;
  signalProcess(identity, host.bootId, 'SIGTERM');
  if (await waitForExit(identity, host)) return;
  signalProcess(identity, host.bootId, 'SIGKILL');
  await waitForExit(identity, host);
}
