import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { containerImagePrefix, type UnownedFile } from '@sheaf/ports';
import type { DiskState } from './disk-state.ts';
import { layersOf } from './disk-state.ts';
import { reachableFrom } from './layer-graph.ts';

export interface KnownIds {
  readonly volumeIds: ReadonlySet<string>;
  readonly snapshotIds: ReadonlySet<string>;
  readonly imageIds: ReadonlySet<string>;
}

const recordKinds = ['volumes', 'snapshots', 'images', 'memories'] as const;

/** Files that none of the known objects needs, and files that are none of ours. Within `serial`. */
export async function findUnowned(disk: DiskState, known: KnownIds): Promise<UnownedFile[]> {
  const { layout } = disk;
  const needed = neededLayers(disk, known);
  const paths = [
    ...(await layout.names(layout.layers))
      .filter((name) => !needed.has(name))
      .map((name) => layout.layer(name)),
    ...(await layout.names(layout.incoming)).filter((id) => !isKnown(id, known)).map((id) => layout.part(id)),
    ...(await strayMemories(disk)),
    ...(await strangers(disk)),
  ];
  return Promise.all(paths.map(sized));
}

/** What was fetched from registries is kept for its next use by this driver itself. */
function isKnown(imageId: string, { imageIds }: KnownIds): boolean {
  return imageIds.has(imageId) || imageId.startsWith(containerImagePrefix);
}

function neededLayers(disk: DiskState, known: KnownIds): Set<string> {
  const { volumeIds, snapshotIds } = known;
  return reachableFrom(disk.layers.graph, [
    ...disk.pinned,
    ...disk.volumes.all().flatMap(({ id, top }) => (volumeIds.has(id) ? [top] : [])),
    ...disk.snapshots.all().flatMap((snapshot) => (snapshotIds.has(snapshot.id) ? layersOf(snapshot) : [])),
    ...disk.images
      .all()
      .flatMap(({ id, layer }) => (layer !== undefined && isKnown(id, known) ? [layer] : [])),
  ]);
}

/** Those that have an owner are removed by him; these have no record of one. */
async function strayMemories({ layout, memories }: DiskState): Promise<string[]> {
  const names = await layout.names(layout.memories);
  return names
    .filter((name) => !memories.get(name.replace(/\.part$/, '')))
    .map((name) => join(layout.memories, name));
}

/** What somebody else has put here. */
async function strangers({ layout, volumes, snapshots, images, memories }: DiskState): Promise<string[]> {
  const folders = { volumes, snapshots, images, memories };
  const own = new Set<string>(['layers', 'incoming', 'work', 'containers', 'memory-files', ...recordKinds]);
  const found = (await layout.names(layout.root))
    .filter((name) => !own.has(name))
    .map((name) => join(layout.root, name));
  for (const kind of recordKinds) {
    const paths = new Set(folders[kind].all().map((record) => folders[kind].path(record.id)));
    for (const name of await layout.names(layout.records(kind))) {
      const path = join(layout.records(kind), name);
      if (!paths.has(path)) found.push(path);
    }
  }
  return found;
}

async function sized(path: string): Promise<UnownedFile> {
  return { path, allocatedBytes: (await stat(path)).blocks * 512 };
}
