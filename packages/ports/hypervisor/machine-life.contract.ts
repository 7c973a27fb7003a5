import assert from 'node:assert/strict';
import { mebibyte, type Scene } from './hypervisor-scene.fixture.ts';
import type { MachineSpec } from './machine.ts';
import type { MachineDisk } from './machine-devices.ts';

export async function tellsCapabilities({ hypervisor, signal }: Scene): Promise<void> {
  const before = hypervisor.capabilities();
  assert.equal(before.hypervisor.isAvailable, false);
  assert.ok(before.hypervisor.wayOut);
  const after = await hypervisor.probe(signal);
  assert.equal(after.hypervisor.isAvailable, true);
  assert.deepEqual(hypervisor.capabilities(), after);
  for (const capability of Object.values(after))
    if (typeof capability === 'object' && 'isAvailable' in capability && !capability.isAvailable)
      assert.ok(capability.wayOut, capability.reason);
  assert.ok(after.machineTypes.includes('q35'));
  assert.ok(after.cpuModels.length > 0);
  assert.ok(after.accelerator.reason);
  assert.ok(after.parallelStarts >= 1);
}

export async function startsOnce(scene: Scene): Promise<void> {
  const first = await scene.start('one');
  assert.equal(first.state, 'paused');
  assert.equal(first.title, 'default/one');
  assert.equal(first.memoryBytes, 4 * mebibyte);
  assert.equal(first.sockets, 1);
  assert.deepEqual(await scene.start('one'), first);
  assert.equal(await scene.world.processCount('one'), 1);
  await scene.hypervisor.resume('one', scene.signal);
  await scene.hypervisor.resume('one', scene.signal);
  assert.deepEqual(await scene.find('one'), { ...first, state: 'running' });
  assert.deepEqual(await scene.hypervisor.list(scene.signal), [{ ...first, state: 'running' }]);
  assert.deepEqual(await scene.start('one'), { ...first, state: 'running' });
}

export async function pauses(scene: Scene): Promise<void> {
  const console = await scene.run('one');
  await scene.hypervisor.pause('one', scene.signal);
  await scene.hypervisor.pause('one', scene.signal);
  assert.equal((await scene.find('one')).state, 'paused');
  await console.type('x');
  await scene.world.pass(100);
  assert.equal(console.printed.includes('x'), false);
  await scene.hypervisor.resume('one', scene.signal);
  await console.shows('x');
  assert.equal((await scene.find('one')).state, 'running');
}

export async function announces(scene: Scene): Promise<void> {
  const seen: string[] = [];
  const listening = scene.hypervisor.onChange((id) => seen.push(id));
  const console = await scene.run('one');
  await scene.until(() => seen.includes('one'));
  await scene.world.pass(50);
  seen.length = 0;
  await console.type('Q');
  await scene.until(() => seen.length > 0);
  assert.deepEqual(new Set(seen), new Set(['one']));
  await scene.endOf('one');
  listening.dispose();
  await scene.world.pass(50);
  seen.length = 0;
  await scene.run('two');
  await scene.world.pass(50);
  assert.deepEqual(seen, []);
}

export async function adopts(scene: Scene): Promise<void> {
  const disk = {
    name: 'data',
    device: 'disk',
    bus: 'scsi',
    file: await scene.world.makeDisk('data'),
  } as const;
  const console = await scene.run('one');
  await scene.hypervisor.attachDisk('one', disk, scene.signal);
  const before = await scene.find('one');
  const { ticks } = await console.status();
  scene.reopen();
  assert.deepEqual(await scene.hypervisor.list(scene.signal), [before]);
  const status = await (await scene.console('one')).status();
  assert.equal(status.boots, 1);
  assert.ok(status.ticks >= ticks);
  assert.deepEqual(await scene.start('one'), before);
  assert.equal(await scene.world.processCount('one'), 1);
}

export async function tellsUnresponsive(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const console = await scene.run('one');
  const { ticks } = await console.status();
  const processId = await scene.processOf('one');
  await world.freeze(processId);
  const seen = await scene.when('one', ({ state }) => state === 'unresponsive');
  assert.equal(seen.processId, processId);
  await scene.refuses(hypervisor.pause('one', signal), 'ServerTimeout', /does not answer/);
  await scene.refuses(hypervisor.openSerial('one', signal), 'ServerTimeout', /does not answer/);
  scene.reopen();
  assert.equal((await scene.find('one')).state, 'unresponsive');
  await world.thaw(processId);
  await scene.when('one', ({ state }) => state === 'running');
  const status = await (await scene.console('one')).status();
  assert.ok(status.ticks >= ticks);
  await world.freeze(processId);
  await scene.hypervisor.end('one', signal);
  assert.deepEqual(await scene.endOf('one'), { cause: 'stopped' });
  assert.equal(await world.processCount('one'), 0);
}

export async function runsOneProcess(scene: Scene): Promise<void> {
  const other = scene.world.open();
  const ids = ['one', 'two', 'three'];
  const both = ids.flatMap((id) => [
    scene.start(id),
    scene.start(id),
    other.start(scene.spec(id), scene.signal),
    other.start(scene.spec(id), scene.signal),
  ]);
  // The second life may come while the first one has had no answer yet.
  const begun = ['starting', 'paused', 'unresponsive'];
  for (const { state, end } of await Promise.all(both))
    assert.ok(begun.includes(state), `${state}: ${JSON.stringify(end)}`);
  for (const id of ids) assert.equal(await scene.world.processCount(id), 1);
  scene.hypervisor.dispose();
  const seen: (string | undefined)[] = [];
  // Whoever came second takes over when the first one is gone.
  for (const id of ids) {
    await scene.until(async () => (await other.find(id, scene.signal))?.state === 'paused');
    seen.push((await other.find(id, scene.signal))?.id);
  }
  assert.deepEqual(seen, ids);
  other.dispose();
}

export async function goesOnWithStart(scene: Scene): Promise<void> {
  // A life that ends in the middle of a start, wherever that is.
  const started = scene.start('one').catch(() => undefined);
  await scene.world.pass(10);
  scene.hypervisor.dispose();
  await started;
  scene.hypervisor = scene.world.open();
  const seen = await scene.start('one');
  assert.equal(seen.state, 'paused');
  assert.equal(await scene.world.processCount('one'), 1);
}

export async function addsCapacity(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  await scene.run('one', {
    cpu: { sockets: 1, cores: 2, threads: 1, maxSockets: 3 },
    memory: { bytes: 128 * mebibyte, maxBytes: 512 * mebibyte },
  });
  for (let time = 0; time < 2; time++) {
    await hypervisor.setSockets('one', 3, signal);
    await hypervisor.setMemory('one', 256 * mebibyte, signal);
  }
  const { sockets, memoryBytes } = await scene.find('one');
  assert.deepEqual({ sockets, memoryBytes }, { sockets: 3, memoryBytes: 256 * mebibyte });
  await hypervisor.setMemory('one', 384 * mebibyte, signal);
  assert.equal((await scene.find('one')).memoryBytes, 384 * mebibyte);
  await scene.refuses(hypervisor.setSockets('one', 4, signal), 'BadRequest', /room for 3/);
  await scene.refuses(hypervisor.setMemory('one', 1024 * mebibyte, signal), 'BadRequest', /room/);
}

export async function keepsPersistent(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const { efi, tpm } = await hypervisor.probe(signal);
  if (!efi.isAvailable || !tpm.isAvailable) return;
  const persistentKey = 'kept';
  const changes: Partial<MachineSpec> = {
    firmware: { kind: 'efi', isSecureBoot: false, persistentKey },
    memory: { bytes: 64 * mebibyte },
    tpm: { persistentKey },
  };
  assert.deepEqual(await world.traces(), []);
  assert.equal((await scene.start('one', changes)).state, 'paused');
  await scene.refuses(hypervisor.forgetPersistent(persistentKey, signal), 'Conflict', /end it/);
  await hypervisor.end('one', signal);
  await hypervisor.forget('one', signal);
  const kept = await world.traces();
  assert.ok(kept.length > 0);
  assert.equal((await scene.start('two', changes)).state, 'paused');
  await hypervisor.end('two', signal);
  await hypervisor.forget('two', signal);
  assert.deepEqual(await world.traces(), kept);
  for (let time = 0; time < 2; time++) await hypervisor.forgetPersistent(persistentKey, signal);
  assert.deepEqual(await world.traces(), []);
}

export async function forgets(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const { tpm } = await hypervisor.probe(signal);
  const disk: MachineDisk = {
    name: 'root',
    device: 'disk',
    bus: 'virtio',
    file: await world.makeDisk('root'),
  };
  const nics = [scene.nic('user')];
  if (world.bridge)
    nics.push({ ...scene.nic('bridged'), link: { kind: 'bridge', bridge: world.bridge.name } });
  await scene.run('one', { disks: [disk], nics, ...(tpm.isAvailable && { tpm: {} }) });
  await scene.refuses(hypervisor.forget('one', signal), 'Conflict', /end it/);
  assert.ok((await world.traces()).length > 0);
  await hypervisor.end('one', signal);
  await hypervisor.forget('one', signal);
  await hypervisor.forget('one', signal);
  assert.deepEqual(await world.traces(), []);
  assert.equal(await hypervisor.find('one', signal), undefined);
  assert.deepEqual(await hypervisor.list(signal), []);
}

export async function runsMany(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  const ids = Array.from({ length: 20 }, (_, index) => `many-${String(index).padStart(2, '0')}`);
  await Promise.all(ids.map((id) => scene.run(id)));
  let seen = await hypervisor.list(signal);
  // On a busy host one of so many may be late with its answer.
  await scene.until(async () => {
    seen = await hypervisor.list(signal);
    return seen.every(({ state }) => state !== 'unresponsive');
  });
  assert.deepEqual(
    seen.map(({ id, state }) => [id, state]),
    ids.map((id) => [id, 'running']),
  );
  assert.equal(new Set(seen.map(({ processId }) => processId)).size, 20);
  await Promise.all(ids.map((id) => hypervisor.end(id, signal)));
  await Promise.all(ids.map((id) => hypervisor.forget(id, signal)));
  assert.deepEqual(await hypervisor.list(signal), []);
}

export async function endsWaiting(scene: Scene): Promise<void> {
  const { hypervisor } = scene;
  await scene.run('one');
  const reason = new Error('enough');
  const controller = new AbortController();
  const found = hypervisor.find('one', controller.signal);
  controller.abort(reason);
  await assert.rejects(found, reason);
  await assert.rejects(hypervisor.end('one', controller.signal), reason);
  assert.equal((await scene.find('one')).state, 'running');
}

export async function knowsNone(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  assert.equal(await hypervisor.find('none', signal), undefined);
  await scene.refuses(hypervisor.resume('none', signal), 'NotFound', /no machine none/);
  await scene.refuses(hypervisor.end('none', signal), 'NotFound', /no machine none/);
  await scene.refuses(hypervisor.openSerial('none', signal), 'NotFound', /no machine none/);
  await scene.refuses(
    hypervisor.readSerialLog('none', { tailBytes: 1 }, signal),
    'NotFound',
    /no machine none/,
  );
  await hypervisor.forget('none', signal);
  await scene.refuses(hypervisor.find('../escape', signal), 'BadRequest', /id of a machine/);
}
