import { link, rename } from 'node:fs/promises';
import type { VolumeRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { syncDirectory, syncFile } from './durable-files.ts';
import { chainOf } from './layer-graph.ts';
import { conflict } from './refusals.ts';

/** Each layer costs a machine an open file and some memory. */
const longestChain = 64;

export function checkChain(disk: DiskState, volume: VolumeRecord): void {
  const { length } = chainOf(disk.layers.graph, volume.top);
  if (length < longestChain) return;
  throw conflict(
    `volume ${volume.title} lies on ${length} layers already; remove snapshots and stop its machine once, so that they are merged`,
  );
}

export async function checkUnused(disk: DiskState, volume: VolumeRecord, signal: AbortSignal): Promise<void> {
  if (await disk.qemuImg.isInUse(disk.layers.path(volume.top), signal))
    throw conflict(`volume ${volume.title} is open in a machine; stop the machine, or take a snapshot of it`);
}

/**
 * Keeps the state of now under `frozen`, and lets the volume go on above it, at the path it had. Between any two steps the
 * volume shows the same. Again with the same name: nothing is done. Within `serial`.
 * @throws StatusError when a machine has it open
 */
export async function freeze(
  disk: DiskState,
  { volume, frozen }: { volume: VolumeRecord; frozen: string },
  signal: AbortSignal,
): Promise<void> {
  const { layers, qemuImg } = disk;
  if (layers.graph.get(volume.top) === frozen) return;
  checkChain(disk, volume);
  await checkUnused(disk, volume, signal);
  await disk.withWorkFile(async (fresh) => {
    const { virtualBytes } = await layers.get(volume.top);
    const backing = { name: frozen, format: 'qcow2' } as const;
    await qemuImg.create(fresh, { bytes: virtualBytes, backing }, signal);
    await syncFile(fresh);
    await link(layers.path(volume.top), layers.path(frozen));
    await syncDirectory(disk.layout.layers);
    await rename(fresh, layers.path(volume.top));
    await syncDirectory(disk.layout.layers);
  });
  await layers.refresh(frozen);
  await layers.refresh(volume.top);
  // It is done; what follows only looks whether it may stay, whoever waits for it.
  const isOpened = await qemuImg.isInUse(layers.path(frozen), new AbortController().signal);
  // A machine has opened the old file in between: it stays what the volume is.
  if (isOpened) await disk.renameLayer(frozen, volume.top);
  if (isOpened) throw conflict(`volume ${volume.title} was opened by a machine just now; try again`);
}
