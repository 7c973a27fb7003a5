import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type Clock, sleep } from '@sheaf/base';
import type { MachineSpec, MemoryOrder } from '@sheaf/ports';
import { switchDisks } from './disk-changes.ts';
import type { FileGuard } from './file-guard.ts';
import { driveOf, pathIn } from './machine-facts.ts';
import type { MachineFiles } from './machine-files.ts';
import type { MachineLink } from './machine-link.ts';
import { partPath } from './memory-file.ts';
import { textAt } from './qmp-client.ts';

interface SettledMachine {
  readonly link: MachineLink;
  readonly spec: MachineSpec;
  readonly files: MachineFiles;
  readonly mayWrite: FileGuard;
  readonly clock: Clock;
}

const underWay = new Set(['setup', 'active', 'device', 'pre-switchover', 'cancelling']);
/** It stands because of us; whatever else stands has a cause of its own. */
const standing = new Set(['finish-migrate', 'postmigrate']);
const pollMs = 20;
/** The program gives up between two pages, so this is for one that hangs. */
const cancelPolls = 500;

/**
 * Ends the keeping of a machine's memory, wherever it stands: after the moment was kept whole, the disks go on from it; otherwise what
 * was written is removed. In any case the guest goes on. Found by looking at the machine alone, so any life can do it.
 */
export async function settleMemory(machine: SettledMachine, order: MemoryOrder): Promise<void> {
  const { link, files } = machine;
  await cancelWriting(machine);
  try {
    await switchAtMoment(machine, order);
  } finally {
    await rm(partPath(order.path), { force: true });
    if (standing.has(await statusOf(link))) await link.execute('cont');
    await files.updateNotes((notes) => ({ ...notes, memoryOrder: undefined }));
  }
}

/** True where all disks have gone on in their new files. */
export async function areSwitched(link: MachineLink, { disks }: MemoryOrder): Promise<boolean> {
  const blocks = await link.execute('query-block');
  return disks.every(({ name, overlay }) => pathIn(driveOf(blocks, name)) === overlay.path);
}

async function switchAtMoment(machine: SettledMachine, order: MemoryOrder): Promise<void> {
  const { link } = machine;
  if (await areSwitched(link, order)) return;
  // Only as long as the guest has done nothing since, its disks fit to what was kept.
  const isMoment = (await statusOf(link)) === 'postmigrate' && existsSync(order.path);
  try {
    if (isMoment) await switchDisks(machine, order.disks);
    else await rm(order.path, { force: true });
  } catch (error) {
    await rm(order.path, { force: true });
    throw error;
  }
}

async function statusOf(link: MachineLink): Promise<string> {
  return textAt(await link.execute('query-status'), 'status') ?? '';
}

async function cancelWriting({ link, clock }: SettledMachine): Promise<void> {
  for (let polls = 0; polls < cancelPolls; polls++) {
    const status = textAt(await link.execute('query-migrate'), 'status') ?? '';
    if (!underWay.has(status)) return;
    if (status !== 'cancelling') await link.execute('migrate_cancel');
    await sleep(clock, pollMs);
  }
  throw new Error(
    'the program does not give up writing the memory of the machine; end the machine and start it again',
  );
}
