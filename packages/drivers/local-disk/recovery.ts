import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskState } from './disk-state.ts';
import { reachableFrom } from './layer-graph.ts';
import { removeMemory } from './local-memories.ts';

/** Ends or undoes what an earlier life of the process was about when it died. */
export async function recover(disk: DiskState): Promise<void> {
  await settleVolumes(disk);
  await settleSnapshots(disk);
  await settleImages(disk);
  await dropSecondNames(disk);
  await disk.sweep();
  for (const { id, state } of disk.memories.all()) if (state === 'removing') await removeMemory(disk, id);
}

/** A layer gets its name when it is whole; so a volume whose layer is there is made. */
async function settleVolumes({ volumes, layers }: DiskState): Promise<void> {
  for (const volume of volumes.all()) {
    if (volume.state !== 'making') continue;
    if (layers.graph.has(volume.top)) await volumes.put({ ...volume, state: 'made' });
    else await volumes.delete(volume.id);
  }
}

/** No machine has been told of an overlay that is not there. */
async function settleSnapshots({ snapshots, layers }: DiskState): Promise<void> {
  for (const { id, state, overlay } of snapshots.all())
    if (state === 'prepared' && overlay && !layers.graph.has(overlay)) await snapshots.delete(id);
}

/** What came in is kept until an image is done; so an image that is not done has no layer worth keeping. */
async function settleImages({ images, layers, layout }: DiskState): Promise<void> {
  for (const { id, state } of images.all())
    if (state !== 'done' && state !== 'removing')
      await layers.remove(imageLayerNames(id).filter((name) => layers.graph.has(name)));
  for (const name of await layout.names(layout.incoming)) {
    const state = images.get(name)?.state;
    if (state === undefined || state === 'done') await rm(join(layout.incoming, name));
  }
}

/** A second name of a file that is in use, left by a volume that was just about to be frozen. */
async function dropSecondNames(disk: DiskState): Promise<void> {
  const { layers } = disk;
  const live = reachableFrom(layers.graph, disk.liveRoots());
  const strays = [...layers.graph.keys()].filter((name) => !live.has(name));
  if (strays.length === 0) return;
  const inodes = new Set<number>();
  for (const name of live) inodes.add((await layers.get(name)).inode);
  const second: string[] = [];
  for (const name of strays) if (inodes.has((await layers.get(name)).inode)) second.push(name);
  await layers.remove(second);
}

export function imageLayerName(id: string, format: 'qcow2' | 'raw' | 'iso'): string {
  return `image-${id}.${format === 'qcow2' ? 'qcow2' : 'raw'}`;
}

function imageLayerNames(id: string): string[] {
  return [imageLayerName(id, 'qcow2'), imageLayerName(id, 'raw')];
}
