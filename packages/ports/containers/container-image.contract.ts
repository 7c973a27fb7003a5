import assert from 'node:assert/strict';
import type { PullOrder, PullProgress } from './container-image.ts';
import type { ContainersScene } from './containers-scene.fixture.ts';

export async function loadsArchives(scene: ContainersScene): Promise<void> {
  const { images, signal, world } = scene;
  const guest = await scene.guestImage();
  assert.deepEqual(guest.entryPoint, ['/guest']);
  assert.equal(guest.user, '');
  assert.ok(guest.bytes > 0);
  assert.match(guest.id, /^sha256:[0-9a-f]{64}$/);
  const tags = ['localhost/test/docker:1', 'localhost/test/oci:1'] as const;
  const [fromDocker] = await images.load(world.archive('docker', tags[0]), signal);
  const [fromOci] = await images.load(world.archive('oci', tags[1]), signal);
  assert.equal(fromDocker?.id, guest.id);
  assert.equal(fromOci?.id, guest.id);
  for (const tag of tags) assert.equal((await images.find(tag, signal))?.id, guest.id);
  assert.ok((await images.find(guest.id, signal))?.tags.includes(tags[0]));
  assert.equal((await images.list(signal)).length, 1);
  for (const tag of tags) await images.remove(tag, signal);
  assert.deepEqual((await scene.guestImage()).tags, [world.guestTag]);
  await scene.refuses(images.remove(tags[0], signal), 'NotFound', /no image/);
  async function* nonsense(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(new TextEncoder().encode('no archive'));
  }
  await scene.refuses(images.load(nonsense(), signal), 'BadRequest', /cannot be loaded/);
  const { imageBytes, freeBytes, totalBytes } = await images.space(signal);
  assert.ok(imageBytes >= guest.bytes && freeBytes > 0 && totalBytes >= freeBytes);
}

export async function guardsUsedImages(scene: ContainersScene): Promise<void> {
  const { containers, images, signal, world } = scene;
  const { id } = await scene.guestImage();
  await scene.sandbox();
  await scene.output('one', ['print done']);
  await scene.refuses(images.remove(id, signal), 'Conflict', /in use/);
  await containers.removeContainer('one', signal);
  await images.remove(id, signal);
  assert.equal(await images.find(id, signal), undefined);
  await images.load(world.archive('docker', world.guestTag), signal);
}

export async function pullsImages(scene: ContainersScene): Promise<void> {
  const { images, signal, world } = scene;
  const { id: imageId } = await scene.guestImage();
  const login = { username: 'someone', password: 'word of honour' };
  const { reference, authority } = await world.openRegistry({ login, isTls: true });
  const order: PullOrder = {
    id: 'pull',
    reference,
    ...(authority !== undefined && { additionalAuthorities: authority }),
  };
  const told: string[] = [];
  const listening = images.onPull((id) => told.push(id));
  const refused = await ended(scene, order);
  assert.ok(refused.state === 'failed' && refused.nature === 'fault', JSON.stringify(refused));
  const done = await ended(scene, { ...order, credentials: login });
  assert.ok(done.state === 'done', JSON.stringify(done));
  assert.equal(done.image.id, imageId);
  assert.ok(done.image.tags.includes(reference));
  assert.ok(done.image.digests.length > 0);
  assert.deepEqual(new Set(told), new Set(['pull']));
  listening.dispose();
  await images.remove(reference, signal);
  const absent = await ended(scene, { ...order, reference: `${reference}-none`, credentials: login });
  assert.ok(absent.state === 'failed' && absent.nature === 'fault', JSON.stringify(absent));
  const unnamed = images.pull({ id: 'short', reference: 'busybox' }, signal);
  await scene.refuses(unnamed, 'BadRequest', /does not name its registry/);
}

export async function givesUpStalledPulls(scene: ContainersScene): Promise<void> {
  const { images, signal, world } = scene;
  await images.remove((await scene.guestImage()).id, signal);
  const { reference } = await world.openRegistry({ isStalling: true });
  const order = { id: 'stalls', reference, isInsecure: true };
  await scene.until(async () => {
    const progress = await images.pull(order, signal);
    assert.equal(progress.state, 'working');
    return progress.state === 'working' && progress.receivedBytes > 100_000;
  });
  const end = await ended(scene, order);
  assert.ok(end.state === 'failed' && end.nature === 'transient', JSON.stringify(end));
  assert.match(end.message, /nothing came/);
  assert.equal((await images.pull({ ...order, id: 'given-up' }, signal)).state, 'working');
  for (let time = 0; time < 2; time++) await images.cancelPull('given-up', signal);
  await images.load(world.archive('docker', world.guestTag), signal);
}

async function ended(scene: ContainersScene, order: PullOrder): Promise<PullProgress> {
  const { images, signal } = scene;
  let last = await images.pull(order, signal);
  await scene.until(async () => {
    if (last.state === 'working') last = await images.pull(order, signal);
    return last.state !== 'working';
  });
  return last;
}
