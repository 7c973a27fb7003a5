import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { StatusError, silentLogger } from '@sheaf/base';
import { type LocalDisk, openLocalDisk } from '@sheaf/drivers/local-disk';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import type { ImageOrder, VolumeOrder } from '@sheaf/ports';
import { inPieces, signal } from '@sheaf/ports/disk-bench.fixture';

/** Something that is asked of the driver, and may be asked again after a crash. */
export type Operation =
  | { readonly kind: 'create'; readonly order: VolumeOrder }
  | { readonly kind: 'expand'; readonly id: string; readonly bytes: number }
  | { readonly kind: 'remove'; readonly id: string }
  | {
      readonly kind: 'snapshot';
      readonly id: string;
      readonly volumeId: string;
      readonly isAttached: boolean;
    }
  | { readonly kind: 'remove-snapshot'; readonly id: string }
  | { readonly kind: 'request-image'; readonly order: ImageOrder }
  | { readonly kind: 'upload-image'; readonly order: ImageOrder; readonly cells: readonly number[] }
  | { readonly kind: 'remove-image'; readonly id: string }
  /** The memory of a machine: kept, or, without bytes, removed. */
  | { readonly kind: 'memory'; readonly id: string; readonly bytes?: number };

export function open(directory: string): Promise<LocalDisk> {
  return openLocalDisk({
    directory,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    overCommitment: 1,
    limits: { checkpointBytes: 16 * 1024, retryMs: 5, attempts: 3 },
  });
}

/** Resolves when it is acknowledged. */
export async function perform(disk: LocalDisk, operation: Operation): Promise<void> {
  const { volumes, images } = disk;
  switch (operation.kind) {
    case 'create':
      return createVolume(volumes, operation.order);
    case 'expand':
      return volumes.expand(operation.id, { bytes: operation.bytes, isAttached: false }, signal);
    case 'remove':
      return volumes.remove(operation.id, signal);
    case 'snapshot':
      return takeSnapshot(disk, operation);
    case 'remove-snapshot':
      return volumes.removeSnapshot(operation.id, signal);
    case 'request-image':
      await images.request(operation.order, signal);
      return;
    case 'upload-image':
      return uploadImage({ images }, operation);
    case 'remove-image':
      return images.remove(operation.id, signal);
    case 'memory':
      return keepMemory(disk, operation);
  }
}

async function takeSnapshot(
  { volumes }: LocalDisk,
  { id, volumeId, isAttached }: Extract<Operation, { kind: 'snapshot' }>,
): Promise<void> {
  const { overlay } = await volumes.snapshot({ id, volumeId, isAttached }, signal);
  if (overlay) await volumes.snapshot({ id, volumeId, isAttached, isSwitched: true }, signal);
}

/** As a hypervisor writes it. */
async function keepMemory(
  { memories }: LocalDisk,
  { id, bytes }: Extract<Operation, { kind: 'memory' }>,
): Promise<void> {
  if (bytes === undefined) return memories.remove(id, signal);
  const { path, state } = await memories.prepare({ id, title: id, bytes: 2 * bytes }, signal);
  if (state === 'prepared') {
    await writeFile(`${path}.part`, Buffer.alloc(bytes, 1));
    await rename(`${path}.part`, path);
  }
  await memories.keep(id, signal);
}

async function createVolume(volumes: LocalDisk['volumes'], order: VolumeOrder): Promise<void> {
  for (;;) {
    const progress = await volumes.create(order, signal);
    if (progress.state === 'failed') throw new Error(`${JSON.stringify(order)}: ${progress.message}`);
    if (progress.state === 'done') return;
    await pause(2);
  }
}

async function uploadImage(
  { images }: Pick<LocalDisk, 'images'>,
  { order, cells }: Extract<Operation, { kind: 'upload-image' }>,
): Promise<void> {
  const { progress, receivedBytes } = await images.request(order, signal);
  const content = bytesOf(cells);
  // All of it came before the crash, and is being looked at or is done.
  if (progress.state !== 'working') return;
  const part = { offset: receivedBytes, bytes: inPieces(content.subarray(receivedBytes)), isLast: true };
  await images.receive(order.id, part, signal).catch((error: unknown) => {
    if (!StatusError.is(error, 'Conflict') || !error.message.includes('no more bytes')) throw error;
  });
}

export function bytesOf(cells: readonly number[]): Buffer {
  return Buffer.concat(cells.map((value) => Buffer.alloc(64 * 1024, value)));
}
