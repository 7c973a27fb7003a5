import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cellBytes,
  type DiskBench,
  imageOrder,
  inPieces,
  rawDisk,
  settled,
  signal,
  type WithBench,
} from './disk-bench.fixture.ts';

/** What every driver of `Images` must do about the size of the disk in an image. */
export function testImageSizes(driver: string, withBench: WithBench): void {
  test(`${driver} images: are no good when their disk is larger than was asked for`, () =>
    withBench(boundDisks));
}

async function boundDisks(bench: DiskBench): Promise<void> {
  const sent = async (id: string, maxVirtualBytes: number) => {
    await bench.images.request({ ...imageOrder(id, { kind: 'upload' }), maxVirtualBytes }, signal);
    const part = { offset: 0, bytes: inPieces(rawDisk(1, 2)), isLast: true };
    await bench.images.receive(id, part, signal);
    return settled(bench, id);
  };
  assert.deepEqual(await sent('fits', 2 * cellBytes), { state: 'done' });
  const { message, ...failed } = { message: '', ...(await sent('large', cellBytes)) };
  assert.deepEqual(failed, { state: 'failed', nature: 'fault' });
  assert.match(message, /131072 bytes, more than the 65536 that were asked for/);
}
