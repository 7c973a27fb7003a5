import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ContainerDiskObservation,
  type ContainerDiskOrder,
  type ContainerDisks,
} from './container-disks.ts';
import { contentOf, type DiskBench, make, mebibyte, orderOf, rawDisk, signal } from './disk-bench.fixture.ts';

/** A driver, and a registry that it can reach. */
export interface ContainerBench {
  readonly disks: DiskBench;
  readonly containers: ContainerDisks;
  /** Gives a name of the registry new content: the files of an image by their path. Returns the reference. */
  push(name: string, files: Readonly<Record<string, Uint8Array>>): Promise<string>;
  /** How often the registry was asked what a name stands for. */
  lookups(): number;
}

export type WithContainerBench = (use: (bench: ContainerBench) => Promise<void>) => Promise<void>;

/** What every driver of `ContainerDisks` must do. */
export function testContainerDisks(driver: string, withBench: WithContainerBench): void {
  const check = (name: string, use: (bench: ContainerBench) => Promise<void>): void => {
    test(`${driver} container disks: ${name}`, () => withBench(use));
  };
  check('are fetched once for each content, and volumes are made from them', areShared);
  check('are looked up again as their policy says', followPolicies);
  check('say what is wrong with them, and are tried again', sayWhatIsWrong);
  check('are given up when nobody names them', areGivenUp);
}

type Wanted = Partial<ContainerDiskOrder> & { readonly reference: string };

const shared = { policy: 'IfNotPresent', occasion: 'a', access: { isInsecure: true } } as const;

async function outcome(
  { containers, disks }: ContainerBench,
  wanted: Wanted,
): Promise<ContainerDiskObservation> {
  let seen: ContainerDiskObservation | undefined;
  await disks.until(async () => {
    seen = await containers.fetch({ ...shared, ...wanted }, signal);
    return seen.progress.state !== 'working';
  });
  return seen ?? assert.fail('nothing was told');
}

async function fetched(bench: ContainerBench, wanted: Wanted): Promise<string> {
  const { progress, image } = await outcome(bench, wanted);
  assert.deepEqual(progress, { state: 'done' });
  return image?.id ?? assert.fail('there is no image');
}

async function failure(bench: ContainerBench, wanted: Wanted): Promise<string> {
  const { progress } = await outcome(bench, wanted);
  return progress.state === 'failed' ? progress.message : assert.fail('it did not fail');
}

async function areShared(bench: ContainerBench): Promise<void> {
  const told: string[] = [];
  const listening = bench.containers.onChange((changed) => told.push(changed));
  const files = { '/disk/one.img': rawDisk(1, 2), '/etc/os-release': Buffer.from('ID=test') };
  const reference = await bench.push('first:1', files);
  const image = await fetched(bench, { reference });
  assert.ok(told.includes(reference));
  listening.dispose();
  assert.equal(await fetched(bench, { reference: await bench.push('second:1', files) }), image);
  const other = await bench.push('third:1', { '/disk/one.img': rawDisk(3, 4), '/other/two.img': rawDisk(5) });
  const named = await fetched(bench, { reference: other, path: '/other/two.img' });
  assert.notEqual(await fetched(bench, { reference: other }), named);
  await make(bench.disks, { ...orderOf('v', { kind: 'image', imageId: image }), bytes: mebibyte });
  assert.deepEqual(await contentOf(bench.disks, 'v', 2), [1, 2]);
  await make(bench.disks, { ...orderOf('w', { kind: 'image', imageId: named }), bytes: mebibyte });
  assert.deepEqual(await contentOf(bench.disks, 'w', 1), [5]);
}

async function followPolicies(bench: ContainerBench): Promise<void> {
  const reference = await bench.push('changing:latest', { '/disk/a': rawDisk(1) });
  assert.match(await failure(bench, { reference, policy: 'Never' }), /policy Never fetches nothing/);
  const first = await fetched(bench, { reference, policy: 'Always' });
  const asked = bench.lookups();
  assert.equal(await fetched(bench, { reference, policy: 'Always' }), first);
  await bench.push('changing:latest', { '/disk/a': rawDisk(2) });
  assert.equal(await fetched(bench, { reference }), first);
  assert.equal(await fetched(bench, { reference, policy: 'Never' }), first);
  assert.equal(bench.lookups(), asked);
  const second = await fetched(bench, { reference, policy: 'Always', occasion: 'b' });
  assert.notEqual(second, first);
  assert.equal(await fetched(bench, { reference }), second);
}

async function sayWhatIsWrong(bench: ContainerBench): Promise<void> {
  const reference = await bench.push('bad:1', { '/disk/a': Buffer.from('<html>') });
  assert.match(await failure(bench, { reference }), /it is no disk/);
  await bench.push('bad:1', { '/elsewhere/a': rawDisk(1) });
  const again = async (words: RegExp): Promise<void> =>
    bench.disks.until(async () => words.test(await failure(bench, { reference })));
  await again(/no file in its folder \/disk/);
  await bench.push('bad:1', { '/disk/a': rawDisk(1), '/disk/b': rawDisk(2) });
  await again(/more than one file is in its folder \/disk/);
  await bench.push('bad:1', { '/disk/a': rawDisk(1) });
  await bench.disks.until(async () => (await outcome(bench, { reference })).progress.state === 'done');
  const gone = reference.replace('bad:1', 'gone:1');
  assert.match(await failure(bench, { reference: gone }), /gone/);
  assert.match(await failure(bench, { reference: '--help' }), /is no name of a container image/);
}

async function areGivenUp(bench: ContainerBench): Promise<void> {
  const { containers, disks } = bench;
  const kept = await bench.push('kept:1', { '/disk/a': rawDisk(1) });
  const used = await bench.push('used:1', { '/disk/a': rawDisk(2) });
  const idle = await bench.push('idle:1', { '/disk/a': rawDisk(3) });
  const ids = [];
  for (const reference of [kept, used, idle]) ids.push(await fetched(bench, { reference }));
  const [keptId = '', usedId = ''] = ids;
  await make(disks, { ...orderOf('v', { kind: 'image', imageId: usedId }), bytes: mebibyte });
  const left = async (): Promise<string[]> => (await disks.images.list(signal)).map(({ id }) => id).sort();
  await containers.keepOnly(new Set([kept]), signal);
  assert.deepEqual(await left(), [keptId, usedId].sort());
  await disks.volumes.remove('v', signal);
  const known = { volumeIds: new Set<string>(), snapshotIds: new Set<string>(), imageIds: new Set<string>() };
  assert.deepEqual(await disks.volumes.findUnowned(known, signal), []);
  await containers.keepOnly(new Set([kept]), signal);
  assert.deepEqual(await left(), [keptId]);
  assert.equal(await fetched(bench, { reference: kept, policy: 'Never' }), keptId);
}
