/** Works with volumes and images until it is killed: `node kill-victim.ts DIRECTORY SEED URL`. */
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { StatusError } from '@sheaf/base';
import type { LocalDisk } from '@sheaf/drivers/local-disk';
import { signal } from '@sheaf/ports/disk-bench.fixture';
import { SeededRandom } from '@sheaf/testkit/seeded-random';
import { type Operation, open, perform } from './operations.ts';

const [directory = '', seed = '0', url = ''] = process.argv.slice(2);
const random = new SeededRandom(Number(seed));
const mebibyte = 1024 * 1024;

function report(entry: object): void {
  writeSync(1, `${JSON.stringify(entry)}\n`);
}

interface World {
  readonly volumes: readonly { readonly id: string; readonly bytes: number }[];
  readonly snapshots: readonly { readonly id: string; readonly bytes: number }[];
  readonly images: readonly string[];
  readonly memories: readonly string[];
}

async function look({ volumes, images, memories }: LocalDisk): Promise<World> {
  return {
    volumes: (await volumes.list(signal)).filter(({ isBusy }) => !isBusy),
    snapshots: await volumes.listSnapshots(signal),
    images: (await images.list(signal)).flatMap(({ id, progress }) =>
      progress.state === 'done' ? [id] : [],
    ),
    memories: (await memories.list(signal)).map(({ id }) => id),
  };
}

function pick<T>(items: readonly T[]): T | undefined {
  return items[random.integer(Math.max(1, items.length))];
}

function choose(world: World): Operation | undefined {
  const id = random.uuid();
  const volume = pick(world.volumes);
  const snapshot = pick(world.snapshots);
  const image = pick(world.images);
  const memory = pick(world.memories);
  const choices: (() => Operation | undefined)[] = [
    () => create(id, { kind: 'blank' }, mebibyte),
    () => (image === undefined ? undefined : create(id, { kind: 'image', imageId: image }, 4 * mebibyte)),
    () => volume && create(id, { kind: 'volume', volumeId: volume.id }, volume.bytes),
    () => snapshot && create(id, { kind: 'snapshot', snapshotId: snapshot.id }, snapshot.bytes),
    () => volume && { kind: 'expand', id: volume.id, bytes: volume.bytes + mebibyte },
    () => volume && { kind: 'snapshot', id, volumeId: volume.id, isAttached: random.integer(2) === 0 },
    () => (world.volumes.length > 5 ? volume && { kind: 'remove', id: volume.id } : undefined),
    () => (world.snapshots.length > 3 ? snapshot && { kind: 'remove-snapshot', id: snapshot.id } : undefined),
    () => (world.images.length > 3 && image ? { kind: 'remove-image', id: image } : undefined),
    () => ({ kind: 'memory', id, bytes: 1 + random.integer(mebibyte) }),
    () => (memory !== undefined && world.memories.length > 2 ? { kind: 'memory', id: memory } : undefined),
    () => (world.images.length < 6 ? newImage(id, image, volume?.id) : undefined),
  ];
  return pick(choices)?.();
}

function create(
  id: string,
  content: Extract<Operation, { kind: 'create' }>['order']['content'],
  bytes: number,
): Operation {
  const provisioning = random.integer(4) === 0 ? 'full' : 'thin';
  return { kind: 'create', order: { id, title: id, bytes, content, provisioning } };
}

function newImage(id: string, imageId: string | undefined, volumeId: string | undefined): Operation {
  const order = { id, title: id, maxBytes: 16 * mebibyte };
  const cells = [1, 2, 3].map(() => 1 + random.integer(255));
  const origins: Operation[] = [
    { kind: 'request-image', order: { ...order, origin: { kind: 'download', urls: [url] } } },
    { kind: 'upload-image', order: { ...order, origin: { kind: 'upload' } }, cells },
  ];
  if (imageId)
    origins.push({ kind: 'request-image', order: { ...order, origin: { kind: 'image', imageId } } });
  if (volumeId)
    origins.push({ kind: 'request-image', order: { ...order, origin: { kind: 'volume', volumeId } } });
  return pick(origins) ?? { kind: 'remove-image', id };
}

const disk = await open(directory);
for (;;) {
  const operation = choose(await look(disk));
  if (!operation) continue;
  report({ begun: operation });
  try {
    await perform(disk, operation);
    report({ done: operation });
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    report({ refused: operation, message: error.message });
    await pause(1);
  }
}
