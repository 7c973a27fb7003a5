import type { MachineEnd } from '@sheaf/ports';
import { fileNames } from './device-names.ts';
import type { MachineHost } from './host.ts';
import { withHolder } from './lock-refusal.ts';
import type { MachineFiles, MachineRecord } from './machine-files.ts';
import { endAllPasst } from './passt.ts';
import { type ProcessIdentity, signalProcess, waitForExit } from './process-identity.ts';
import type { QmpClient, QmpEvent } from './qmp-client.ts';
import { removeTaps } from './tap-device.ts';
import { endTpm } from './tpm-emulator.ts';

/** What the process is asked before it is killed. */
const quitMs = 1000;

/** What a state of the program means as an end; `undefined` while the machine can go on. */
export function endOfStatus(status: string, words: string): MachineEnd | undefined {
  switch (status) {
    case 'shutdown':
      return { cause: 'guest-shutdown' };
    case 'guest-panicked':
      return { cause: 'guest-panicked', message: words || 'the guest reported a panic' };
    case 'internal-error':
      return { cause: 'guest-panicked', message: words || 'the processor stopped with an internal error' };
    case 'watchdog':
      return { cause: 'guest-panicked', message: 'the watchdog expired' };
    default:
      return undefined;
  }
}

export function panicWords({ data }: QmpEvent): string {
  const { info } = data;
  return info === undefined ? '' : `the guest reported a panic: ${JSON.stringify(info)}`;
}

/** Why a process is gone that left no cause. */
export async function endOfDeath(
  files: MachineFiles,
  record: MachineRecord,
  bootId: string,
): Promise<MachineEnd> {
  if (record.bootId !== bootId) return { cause: 'host-restarted' };
  const words = await files.lastWords(fileNames.machine);
  if (await files.wasReady())
    return { cause: 'process-died', message: words || 'the process is gone and left no words' };
  const message = words || 'the process ended before it answered, without a word';
  return { cause: 'start-failed', message: withHolder(message, pathsOf(record)) };
}

function pathsOf({ spec }: MachineRecord): readonly string[] {
  return spec.disks.flatMap(({ file }) => file?.path ?? []);
}

/** Ends a machine's process, kindly at first. Resolves to true when it is gone. */
export async function endProcess(
  identity: ProcessIdentity,
  host: MachineHost,
  qmp: QmpClient | undefined,
): Promise<boolean> {
  const wait = { bootId: host.bootId, clock: host.clock, limitMs: host.limits.endMs };
  if (qmp) {
    try {
      await qmp.execute('quit', undefined, quitMs);
      if (await waitForExit(identity, wait)) return true;
    } catch {
      // It does not answer, or is gone; what follows needs no answer.
    }
  }
  signalProcess(identity, host.bootId, 'SIGKILL');
  return await waitForExit(identity, wait);
}

/** Removes what a machine has on the host beside its directory. */
export async function releaseHostResources(
  files: MachineFiles,
  id: string,
  host: MachineHost,
): Promise<void> {
  const wait = { bootId: host.bootId, clock: host.clock, limitMs: host.limits.endMs };
  await Promise.all([endTpm(files, wait), endAllPasst(files, wait)]);
  const { networkTool } = host.programs();
  if (networkTool !== undefined) await removeTaps(networkTool, id);
}
