import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DiskBench, mebibyte, refusedAs, signal } from './disk-bench.fixture.ts';
import type { MachineMemories } from './machine-memories.ts';

/** A driver of memories on the medium of a driver of volumes. */
export interface MemoryBench extends Pick<DiskBench, 'volumes' | 'restart'> {
  readonly memories: MachineMemories;
  /** As a hypervisor does: a file of so many bytes. */
  writeMemory(path: string, bytes: number): Promise<void>;
  hasFile(path: string): boolean;
}

type WithMemoryBench = (use: (bench: MemoryBench) => Promise<void>) => Promise<void>;

/** What every driver of `MachineMemories` must do. */
export function testMachineMemories(driver: string, withBench: WithMemoryBench): void {
  const check = (name: string, use: (bench: MemoryBench) => Promise<void>): void => {
    test(`${driver} memories: ${name}`, () => withBench(use));
  };
  check('are prepared once, and kept when they are whole', arePreparedAndKept);
  check('count as long as they are there', areCounted);
  check('are refused before room is used that is not there', areRefused);
  check('are removed with all that was written', areRemoved);
  check('are the same after a restart', surviveRestart);
}

const order = { id: 'm', title: 'ns/m', bytes: 4 * mebibyte };

async function arePreparedAndKept({ memories, writeMemory }: MemoryBench): Promise<void> {
  assert.deepEqual(await memories.list(signal), []);
  const prepared = await memories.prepare(order, signal);
  const { path, ...rest } = prepared;
  assert.deepEqual(rest, { id: 'm', title: 'ns/m', state: 'prepared', allocatedBytes: 0 });
  assert.deepEqual(await memories.prepare(order, signal), prepared);
  await assert.rejects(memories.keep('m', signal), refusedAs('NotFound', /nothing has been written/));
  await assert.rejects(memories.keep('other', signal), refusedAs('NotFound', /prepare it first/));
  await writeMemory(path, mebibyte);
  for (let time = 0; time < 2; time++) await memories.keep('m', signal);
  const [kept] = await memories.list(signal);
  assert.equal(kept?.state, 'kept');
  assert.equal(kept.path, path);
  assert.ok(kept.allocatedBytes >= mebibyte);
  // Whoever asks late for what is there finds it, and takes no more room.
  assert.deepEqual(await memories.prepare(order, signal), kept);
}

async function areCounted({ memories, volumes, writeMemory }: MemoryBench): Promise<void> {
  const before = (await volumes.space(signal)).promisedBytes;
  const { path } = await memories.prepare(order, signal);
  assert.equal((await volumes.space(signal)).promisedBytes - before, order.bytes);
  await writeMemory(path, mebibyte);
  await memories.keep('m', signal);
  const taken = (await volumes.space(signal)).promisedBytes - before;
  assert.ok(taken >= mebibyte && taken < 2 * mebibyte, String(taken));
  await memories.remove('m', signal);
  assert.equal((await volumes.space(signal)).promisedBytes, before);
}

async function areRefused({ memories, volumes }: MemoryBench): Promise<void> {
  const { promisableBytes } = await volumes.space(signal);
  const tooLarge = { ...order, bytes: promisableBytes + mebibyte };
  await assert.rejects(memories.prepare(tooLarge, signal), refusedAs('Forbidden', /memory of ns\/m needs/));
  await assert.rejects(memories.prepare({ ...order, id: '../m' }, signal), refusedAs('BadRequest', /no id/));
  assert.deepEqual(await memories.list(signal), []);
}

async function areRemoved({ memories, writeMemory, hasFile }: MemoryBench): Promise<void> {
  const { path } = await memories.prepare(order, signal);
  const files = [path, `${path}.part`];
  for (const file of files) await writeMemory(file, mebibyte);
  for (let time = 0; time < 2; time++) await memories.remove('m', signal);
  assert.deepEqual(await memories.list(signal), []);
  assert.deepEqual(files.filter(hasFile), []);
}

async function surviveRestart(bench: MemoryBench): Promise<void> {
  const kept = await bench.memories.prepare({ ...order, id: 'kept' }, signal);
  await bench.writeMemory(kept.path, mebibyte);
  await bench.memories.keep('kept', signal);
  const prepared = await bench.memories.prepare(order, signal);
  await bench.writeMemory(`${prepared.path}.part`, mebibyte);
  const before = await bench.memories.list(signal);
  await bench.restart();
  assert.deepEqual(await bench.memories.list(signal), before);
  assert.ok([kept.path, `${prepared.path}.part`].every(bench.hasFile));
  await bench.memories.remove('kept', signal);
  await bench.restart();
  assert.deepEqual(
    (await bench.memories.list(signal)).map(({ id }) => id),
    ['m'],
  );
}
