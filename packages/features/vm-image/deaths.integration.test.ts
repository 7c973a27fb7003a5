import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources, type Transport } from '@sheaf/client';
import { type FirstLife, type ImageWorld, rawDisk, saidBy, withImages } from './image-world.fixture.ts';

const url = 'http://source.test/disk.img';
const disk = rawDisk(1, 2);
const ref = { namespace: 'default', name: 'one' };
/** More steps than there are. */
const most = 200;

/** Comes and goes; wherever the first life ends, a second one brings it to the same end. */
async function liveThrough(world: ImageWorld, hasDied: () => boolean): Promise<void> {
  const { client, sources, medium, create, eventually, restart } = world;
  let isSecond = false;
  const reach = async (claim: () => Promise<boolean>): Promise<void> => {
    await eventually(async () => (hasDied() && !isSecond) || (await claim()));
    if (!hasDied() || isSecond) return;
    isSecond = true;
    await restart();
    await eventually(claim);
  };
  sources.offer(url, [
    { content: disk, etag: '"a"', breaksAfter: 65_536 },
    { content: disk, etag: '"a"' },
  ]);
  await create('one', { url });
  await reach(async () => saidBy(await world.get('one'), 'Imported') === 'True/Imported');
  const { status, metadata } = await world.get('one');
  assert.deepEqual([status?.failed ?? 0, status?.progress, status?.size], [0, 100, disk.length]);
  await client.delete(resources.virtualMachineImages, ref);
  await reach(async () => (await client.find(resources.virtualMachineImages, ref)) === undefined);
  assert.equal(await client.find(resources.storageClasses, { name: `lh-${metadata.uid}` }), undefined);
  assert.equal(medium.images.size, 0);
}

/** A life that ends at one step after the other, until one comes to its end. Returns how many have ended before. */
async function dieEverywhere(lifeOf: (die: () => boolean) => FirstLife): Promise<number> {
  for (let last = 1; last < most; last++) {
    let steps = 0;
    let isDead = false;
    const die = (): boolean => {
      isDead ||= ++steps === last;
      return isDead;
    };
    await withImages((world) => liveThrough(world, () => isDead), lifeOf(die));
    if (!isDead) return last - 1;
  }
  throw new Error(`it does not come to its end in ${most} steps`);
}

function failingWrites(when: 'before' | 'after', die: () => boolean): FirstLife {
  let isDead = false;
  const through = (send: Transport['send']): Transport['send'] => {
    return async (request) => {
      const isWrite = request.method !== 'GET';
      if (isDead || (isWrite && when === 'before' && die())) throw dead();
      const response = await send(request);
      isDead ||= isWrite && when === 'after' && die();
      if (isDead && isWrite) throw dead();
      return response;
    };
  };
  return { through };
}

function dead(): Error {
  return new Error('the process has died');
}

describe('the death of the process', () => {
  it('before any step of the driver comes to the same end', async () => {
    const deaths = await dieEverywhere((die) => ({
      faults: { crashesAt: die, diskIsFull: () => false, corrupts: () => false },
    }));
    assert.ok(deaths > 10, String(deaths));
  });

  for (const when of ['before', 'after'] as const)
    it(`${when} any write comes to the same end`, async () => {
      const deaths = await dieEverywhere((die) => failingWrites(when, die));
      assert.ok(deaths >= 6, String(deaths));
    });
});
