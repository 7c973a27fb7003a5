import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqliteStore, type Store } from '@sheaf/store';
import { contentsOf, inDirectory, isFault } from './fault-fixture.ts';
import { systemClock } from './system-clock.ts';

const clock = systemClock;

/** Runs `use` on a file system of a few MiB; says so when that cannot be had here. */
async function onSmallDisk(context: TestContext, use: (disk: string) => Promise<void>): Promise<void> {
  await inDirectory(async (directory) => {
    const disk = join(directory, 'disk');
    mkdirSync(disk);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]);
    if (mounted.status !== 0) {
      context.skip('mounting a small file system needs root');
      return;
    }
    try {
      await use(disk);
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });
}

function occupy(disk: string, leaveBytes: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - leaveBytes));
}

/** Writes until it is refused; returns how many writes were acknowledged. */
async function writeUntilFull(store: Store, name: string): Promise<number> {
  for (let index = 0; ; index++) {
    const write = { key: `${name}/${index}`, value: Buffer.alloc(3000, name), expected: 0 };
    const chained = { key: write.key, value: undefined, expected: store.revision + 1 };
    const [first, second] = await Promise.allSettled([store.commit(write), store.commit(chained)]);
    if (first.status === 'fulfilled') {
      assert.equal(second.status, 'fulfilled');
      continue;
    }
    assert.ok(isFault('disk-full')(first.reason), String(first.reason));
    assert.ok(second.status === 'rejected');
    return index;
  }
}

test('a full disk fails the commits it hits, and no others', (context) =>
  onSmallDisk(context, async (disk) => {
    const options = { directory: join(disk, 'data'), clock };
    const store = await openSqliteStore(options);
    await store.commit({ key: 'kept', value: Buffer.from('kept'), expected: 0 });
    for (const round of ['one', 'two', 'three']) {
      occupy(disk, 200_000);
      await writeUntilFull(store, round);
      const shown = await contentsOf(store);
      assert.ok(!shown.end && shown.records.some(([key]) => key === 'kept'));
      rmSync(join(disk, 'ballast'));
      await store.commit({ key: `after ${round}`, value: Buffer.from('x'), expected: 0 });
      assert.ok(await store.get(`after ${round}`));
    }
    const before = await contentsOf(store);
    await store.close();
    const again = await openSqliteStore(options);
    assert.deepEqual(await contentsOf(again), before);
    await again.close();
  }));

test('a disk that is full when the log is to be written back only delays that', (context) =>
  onSmallDisk(context, async (disk) => {
    const options = { directory: join(disk, 'data'), clock };
    const store = await openSqliteStore(options);
    const value = Buffer.alloc(100_000, 'x');
    let acknowledged = 0;
    for (let index = 0; index < 60; index++) {
      // Room for the log, none for the database.
      if (index === 30) occupy(disk, 2_000_000);
      const commit = store.commit({ key: `k/${index}`, value, expected: 0 });
      acknowledged += await commit.then(
        () => 1,
        (error: unknown) => (assert.ok(isFault('disk-full')(error), String(error)), 0),
      );
    }
    assert.ok(acknowledged >= 30);
    rmSync(join(disk, 'ballast'));
    await store.commit({ key: 'after', value, expected: 0 });
    const before = await contentsOf(store);
    assert.equal(before.records.length, acknowledged + 1);
    await store.close();
    const again = await openSqliteStore(options);
    assert.deepEqual(await contentsOf(again), before);
    await again.close();
  }));
