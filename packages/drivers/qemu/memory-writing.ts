import { rename, rm } from 'node:fs/promises';
import { cpus } from 'node:os';
import { type Clock, isJsonObject, type JsonObject, type JsonValue, sleep } from '@sheaf/base';
import type { MemoryOrder } from '@sheaf/ports';
import { fileNames } from './device-names.ts';
import type { MachineHost } from './host.ts';
import { numberAt } from './machine-facts.ts';
import type { MachineFiles, MachineRecord } from './machine-files.ts';
import { layoutOf } from './machine-layout.ts';
import type { MachineLink } from './machine-link.ts';
import { labelBlock, type MemoryLabel, partPath } from './memory-file.ts';
import { MemoryReceiver } from './memory-receiver.ts';
import { objectAt, textAt } from './qmp-client.ts';

export interface WrittenMachine {
  readonly link: MachineLink;
  readonly record: MachineRecord;
  readonly files: MachineFiles;
  readonly host: MachineHost;
}

const pollMs = 20;
/** No limit: the disk is what it waits for. */
const bytesPerSecond = 2 ** 40;
/** As long as the program may let a guest stand: from then on it ends the writing instead of beginning again. */
const longestStandMs = 2_000_000;
const usualStandMs = 300;
const mostPasses = 8;
/** While it writes the last of it, the program answers nothing. */
const answerMs = 600_000;

/** What a file says that the memory of a machine is written to by this version of the program, or is to be read by it. */
export function labelOf(
  { spec, accelerator }: Pick<MachineRecord, 'spec' | 'accelerator'>,
  emulator: string,
): MemoryLabel {
  const processor = accelerator === 'kvm' ? cpus()[0]?.model : undefined;
  return {
    version: 1,
    emulator,
    accelerator,
    ...(processor !== undefined && { processor }),
    layout: layoutOf(spec),
  };
}

/**
 * Writes the memory of a machine to a file, which gets its name when it is whole. The guest runs meanwhile, and stands when this
 * resolves. What it changes meanwhile is written again, until that is little, or would become more than `memoryFileBytes`: then it stands
 * for the rest, however much that is. If this process dies before the end, the program gives up, and lets the guest go on by itself.
 */
export async function writeMemory(
  { link, record, files, host }: WrittenMachine,
  { path }: MemoryOrder,
  { onPercent, signal }: { readonly onPercent: (percent: number) => void; readonly signal: AbortSignal },
): Promise<void> {
  const part = partPath(path);
  for (const stale of [path, part]) await rm(stale, { force: true });
  const head = labelBlock(labelOf(record, await versionOf(link)));
  const receiver = await MemoryReceiver.listen(files.directory, { path: part, head });
  try {
    await setParameters(link, usualStandMs);
    await link.execute('migrate', { uri: `unix:${fileNames.memory}` });
    await untilWritten(link, { clock: host.clock, receiver, onPercent, signal });
    await receiver.ended;
    await rename(part, path);
  } finally {
    receiver.dispose();
  }
}

async function untilWritten(
  link: MachineLink,
  writing: {
    readonly clock: Clock;
    readonly receiver: MemoryReceiver;
    readonly onPercent: (percent: number) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  let isLast = false;
  for (;;) {
    const seen = await link.qmp.execute('query-migrate', undefined, answerMs);
    const status = textAt(seen, 'status');
    if (status === 'completed') return;
    // The program only knows that nobody reads any more; why that is so, the reader knows.
    if (status === 'failed' || status === 'cancelled')
      throw (
        writing.receiver.failure ??
        new Error(textAt(seen, 'error-desc') ?? `the program did not write its memory: ${status}`)
      );
    writing.onPercent(percentOf(seen));
    if (!isLast && mustEnd(ramOf(seen))) {
      isLast = true;
      await setParameters(link, longestStandMs);
    }
    await sleep(writing.clock, pollMs, writing.signal);
  }
}

/** Of the process: the host may have got another one since it was started. */
async function versionOf(link: MachineLink): Promise<string> {
  const version = objectAt(await link.execute('query-version'), 'qemu');
  return ['major', 'minor', 'micro'].map((part) => numberAt(version, part)).join('.');
}

/** What has been changed since would not fit once more if as much were changed meanwhile, or it never becomes less. */
function mustEnd(ram: JsonObject): boolean {
  const passes = numberAt(ram, 'dirty-sync-count');
  const written = numberAt(ram, 'transferred') + 2 * numberAt(ram, 'remaining');
  return passes > 1 && (passes > mostPasses || written > 2 * numberAt(ram, 'total'));
}

function ramOf(seen: JsonValue): JsonObject {
  return isJsonObject(seen) ? objectAt(seen, 'ram') : {};
}

async function setParameters(link: MachineLink, standMs: number): Promise<void> {
  await link.execute('migrate-set-parameters', {
    'max-bandwidth': bytesPerSecond,
    'downtime-limit': standMs,
  });
}

/** Of the first time that all is written; what follows is short. */
function percentOf(seen: JsonValue): number {
  const ram = ramOf(seen);
  const total = numberAt(ram, 'total');
  if (total === 0) return 0;
  if (numberAt(ram, 'dirty-sync-count') > 1) return 99;
  return Math.min(99, Math.floor(((total - numberAt(ram, 'remaining')) * 100) / total));
}
