import assert from 'node:assert/strict';
import { mebibyte, type Scene } from './hypervisor-scene.fixture.ts';
import type { DiskFile, MachineDisk, MachineNic } from './machine-devices.ts';

export async function guardsDisks(scene: Scene): Promise<void> {
  const file = await scene.world.makeDisk('root');
  const disk: MachineDisk = { name: 'root', device: 'disk', bus: 'virtio', file };
  await scene.run('owner', { disks: [disk] });
  const refused = await scene.start('second', { disks: [disk] });
  assert.ok(refused.end?.cause === 'start-failed');
  const inUse = /root\S* is in use by machine default\/owner: detach it there or end that machine/;
  assert.match(refused.end.message, inUse);
  await scene.run('third');
  const third = scene.hypervisor.attachDisk('third', { ...disk, bus: 'scsi' }, scene.signal);
  await scene.refuses(third, 'Conflict', inUse);
  const medium: MachineDisk = { name: 'cd', device: 'cdrom', bus: 'scsi' };
  await scene.run('drive', { disks: [medium] });
  const insert = scene.hypervisor.changeMedium('drive', { name: 'cd', file }, scene.signal);
  await scene.refuses(insert, 'Conflict', inUse);
  assert.equal(await scene.device('third', 'root'), undefined);
  await scene.hypervisor.end('owner', scene.signal);
  await scene.hypervisor.attachDisk('third', { ...disk, bus: 'scsi' }, scene.signal);
  const shared = await scene.world.makeDisk('shared');
  const shareable: MachineDisk = {
    name: 'shared',
    device: 'disk',
    bus: 'scsi',
    file: shared,
    isShareable: true,
  };
  assert.equal((await scene.start('fourth', { disks: [shareable] })).state, 'paused');
  assert.equal((await scene.start('fifth', { disks: [shareable] })).state, 'paused');
}

export async function attachesDisks(scene: Scene): Promise<void> {
  const file = await scene.world.makeDisk('data');
  const disk: MachineDisk = { name: 'data', device: 'disk', bus: 'scsi', file, serial: 'data' };
  await scene.run('one');
  await scene.hypervisor.attachDisk('one', disk, scene.signal);
  await scene.hypervisor.attachDisk('one', disk, scene.signal);
  assert.deepEqual(await scene.device('one', 'data'), {
    name: 'data',
    kind: 'disk',
    path: file.path,
    isLeaving: false,
  });
  await scene.hypervisor.detachDisk('one', 'data', scene.signal);
  await scene.when('one', ({ devices }) => devices.length === 0);
  await scene.hypervisor.detachDisk('one', 'data', scene.signal);
  // Its file is free: another machine may have it.
  await scene.until(async () => {
    const id = `after-${(await scene.hypervisor.list(scene.signal)).length}`;
    return (await scene.start(id, { disks: [disk] })).state === 'paused';
  });
  await scene.refuses(
    scene.hypervisor.attachDisk('one', { ...disk, name: 'late', bus: 'sata' }, scene.signal),
    'BadRequest',
    /next start/,
  );
}

export async function waitsForGuest(scene: Scene): Promise<void> {
  const file = await scene.world.makeDisk('data');
  const disk: MachineDisk = { name: 'data', device: 'disk', bus: 'virtio', file };
  const console = await scene.run('one', { disks: [disk] });
  await scene.hypervisor.detachDisk('one', 'data', scene.signal);
  await scene.hypervisor.detachDisk('one', 'data', scene.signal);
  const leaving = { name: 'data', kind: 'disk', path: file.path, isLeaving: true };
  assert.deepEqual(await scene.device('one', 'data'), leaving);
  await scene.refuses(scene.hypervisor.attachDisk('one', disk, scene.signal), 'Conflict', /leaving/);
  scene.reopen();
  assert.deepEqual(await scene.device('one', 'data'), leaving);
  const again = await scene.console('one');
  console.close();
  await again.type('E');
  await again.shows('let go\n');
  await scene.when('one', ({ devices }) => devices.length === 0);
  await scene.until(async () => {
    const id = `after-${(await scene.hypervisor.list(scene.signal)).length}`;
    return (await scene.start(id, { disks: [disk] })).state === 'paused';
  });
}

export async function changesMedium(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const [first, second] = [await world.makeDisk('first'), await world.makeDisk('second')];
  const drives: MachineDisk[] = [
    { name: 'sata', device: 'cdrom', bus: 'sata', file: first },
    { name: 'scsi', device: 'cdrom', bus: 'scsi' },
  ];
  await scene.run('one', { disks: drives });
  const paths = async (): Promise<unknown> =>
    Object.fromEntries((await scene.find('one')).devices.map(({ name, path }) => [name, path]));
  assert.deepEqual(await paths(), { sata: first.path, scsi: undefined });
  for (let time = 0; time < 2; time++) {
    await hypervisor.changeMedium('one', { name: 'scsi', file: first }, signal);
    await hypervisor.changeMedium('one', { name: 'sata', file: second }, signal);
    assert.deepEqual(await paths(), { sata: second.path, scsi: first.path });
  }
  for (let time = 0; time < 2; time++)
    await hypervisor.changeMedium('one', { name: 'sata', file: undefined }, signal);
  assert.deepEqual(await paths(), { sata: undefined, scsi: first.path });
  // What was ejected is free for a writer.
  const writer: MachineDisk = { name: 'root', device: 'disk', bus: 'virtio', file: second };
  assert.equal((await scene.start('two', { disks: [writer] })).state, 'paused');
}

export async function resizesAndLimits(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  const limits = { bytesPerSecond: 4 * mebibyte, operationsPerSecond: 100 };
  const disks: MachineDisk[] = [
    { name: 'root', device: 'disk', bus: 'virtio', file: await scene.world.makeDisk('root'), limits },
    { name: 'data', device: 'disk', bus: 'scsi', file: await scene.world.makeDisk('data') },
  ];
  await scene.run('one', { disks });
  for (const { name } of disks) {
    for (let time = 0; time < 2; time++)
      await hypervisor.resizeDisk('one', { name, bytes: 32 * mebibyte }, signal);
    await hypervisor.limitDisk('one', { name, limits }, signal);
    await hypervisor.limitDisk('one', { name, limits: {} }, signal);
  }
  await scene.refuses(
    hypervisor.resizeDisk('one', { name: 'absent', bytes: mebibyte }, signal),
    'NotFound',
    /attach it/,
  );
}

export async function switchesDisks(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const disks: MachineDisk[] = [
    { name: 'root', device: 'disk', bus: 'virtio', file: await world.makeDisk('root') },
    { name: 'data', device: 'disk', bus: 'scsi', file: await world.makeDisk('data') },
  ];
  await scene.run('one', { disks });
  const switched = [];
  for (const { name, file } of disks) {
    assert.ok(file);
    switched.push({ name, overlay: await world.makeOverlay(`${name}-new`, file) });
  }
  const paths = async (): Promise<unknown> =>
    (await scene.find('one')).devices.map(({ path }) => path ?? '').toSorted(byText);
  const wanted = switched.map(({ overlay }) => overlay.path).toSorted(byText);
  const absent: DiskFile = { path: '/nowhere/absent.qcow2', format: 'qcow2' };
  const [first] = switched;
  assert.ok(first);
  await assert.rejects(
    hypervisor.switchDisks('one', [first, { name: 'data', overlay: absent }], signal),
    /absent/,
  );
  assert.deepEqual(await paths(), disks.map(({ file }) => file?.path ?? '').toSorted(byText));
  await hypervisor.switchDisks('one', switched, signal);
  assert.deepEqual(await paths(), wanted);
  await hypervisor.switchDisks('one', switched, signal);
  assert.deepEqual(await paths(), wanted);
  assert.equal((await scene.find('one')).state, 'running');
  scene.reopen();
  assert.deepEqual(await paths(), wanted, 'where it writes is also told to who was not there');
  // What stood behind a switched disk is closed with it.
  const data = switched.find(({ name }) => name === 'data');
  assert.ok(data);
  await scene.hypervisor.detachDisk('one', 'data', signal);
  await scene.when('one', ({ devices }) => devices.length === 1);
  const disk: MachineDisk = { name: 'data', device: 'disk', bus: 'virtio', file: data.overlay };
  await scene.until(async () => {
    const id = `after-${(await scene.hypervisor.list(signal)).length}`;
    return (await scene.start(id, { disks: [disk] })).state === 'paused';
  });
}

export async function closesRefusedSwitch(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const disks: MachineDisk[] = [
    { name: 'root', device: 'disk', bus: 'virtio', file: await world.makeDisk('root') },
    { name: 'data', device: 'disk', bus: 'scsi', file: await world.makeDisk('data') },
  ];
  await scene.run('one', { disks });
  const file = await world.makeDisk('new');
  const absent: DiskFile = { path: '/nowhere/absent.qcow2', format: 'qcow2' };
  const changes = [
    { name: 'root', overlay: file },
    { name: 'data', overlay: absent },
  ];
  await assert.rejects(hypervisor.switchDisks('one', changes, signal), /absent/);
  const other: MachineDisk = { name: 'root', device: 'disk', bus: 'virtio', file };
  assert.equal((await scene.start('two', { disks: [other] })).end, undefined, 'another machine may have it');
}

export async function guardsFilesBeneath(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const base = await world.makeDisk('base');
  const disk: MachineDisk = { name: 'root', device: 'disk', bus: 'virtio', file: base };
  await scene.run('one', { disks: [disk] });
  const early = await world.makeOverlay('early', base);
  const above = await scene.start('two', { disks: [{ ...disk, file: early }] });
  assert.equal(above.end?.cause, 'start-failed', 'nothing is written on top of what another one writes to');
  await hypervisor.switchDisks(
    'one',
    [{ name: 'root', overlay: await world.makeOverlay('new', base) }],
    signal,
  );
  const below = await scene.start('three', { disks: [disk] });
  assert.equal(below.end?.cause, 'start-failed', 'nobody writes to what lies beneath');
  await scene.run('four');
  await assert.rejects(hypervisor.attachDisk('four', { ...disk, bus: 'scsi' }, signal));
  await hypervisor.end('one', signal);
  await hypervisor.attachDisk('four', { ...disk, bus: 'scsi' }, signal);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

export async function attachesNics(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  const console = await scene.run('one', { nics: [{ ...scene.nic('first'), carrier: 'down' }] });
  const nic = scene.nic('second');
  await hypervisor.attachNic('one', nic, signal);
  await hypervisor.attachNic('one', nic, signal);
  const names = async (): Promise<unknown> =>
    (await scene.find('one')).devices
      .toSorted((a, b) => byText(a.name, b.name))
      .map(({ name, isLeaving }) => [name, isLeaving]);
  assert.deepEqual(await names(), [
    ['first', false],
    ['second', false],
  ]);
  await hypervisor.setCarrier('one', { name: 'first', carrier: 'up' }, signal);
  await hypervisor.setCarrier('one', { name: 'second', carrier: 'down' }, signal);
  await scene.refuses(
    hypervisor.setCarrier('one', { name: 'third', carrier: 'up' }, signal),
    'NotFound',
    /attach it/,
  );
  for (const name of ['first', 'second']) await hypervisor.detachNic('one', name, signal);
  assert.deepEqual(await names(), [
    ['first', true],
    ['second', true],
  ]);
  await console.type('E');
  await scene.when('one', ({ devices }) => devices.length === 0);
  await hypervisor.detachNic('one', 'first', signal);
  await hypervisor.attachNic('one', nic, signal);
  assert.deepEqual(await names(), [['second', false]]);
}

export async function plugsIntoBridges(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const { bridge } = world;
  if (!bridge) {
    const { bridges } = await hypervisor.probe(signal);
    assert.equal(bridges.isAvailable, false);
    return;
  }
  const link = { kind: 'bridge', bridge: bridge.name } as const;
  const console = await scene.run('one', { nics: [{ ...scene.nic('first'), link }] });
  assert.equal((await bridge.ports()).length, 1);
  await hypervisor.attachNic('one', { ...scene.nic('second'), link }, signal);
  assert.equal((await bridge.ports()).length, 2);
  await hypervisor.detachNic('one', 'second', signal);
  await console.type('E');
  await scene.until(async () => (await bridge.ports()).length === 1);
  await hypervisor.end('one', signal);
  assert.deepEqual(await bridge.ports(), []);
  const absent = { kind: 'bridge', bridge: 'absent0' } as const;
  await assert.rejects(scene.start('two', { nics: [{ ...scene.nic('first'), link: absent }] }), /absent0/);
  await hypervisor.end('two', signal);
  await hypervisor.forget('two', signal);
}

const web = { protocol: 'tcp', guestPort: 80 } as const;
const time = { protocol: 'udp', guestPort: 123 } as const;

export async function forwardsPorts(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  const forwards = [
    { protocol: 'tcp', guestPort: 22 },
    { protocol: 'udp', guestPort: 53 },
  ] as const;
  const nic: MachineNic = { ...scene.nic('default'), link: { kind: 'user', forwards, cidr: '10.9.8.0/24' } };
  await scene.run('one', { nics: [nic] });
  await scene.run('two', { nics: [nic] });
  const [one, two] = [await scene.find('one'), await scene.find('two')];
  const ports = [...one.forwards, ...two.forwards].map(({ hostPort }) => hostPort);
  assert.equal(new Set(ports.filter((port) => port > 0)).size, 4);
  assert.deepEqual(
    one.forwards.map(({ protocol, guestPort, nic: name }) => ({ protocol, guestPort, name })),
    forwards.map((forward) => ({ ...forward, name: 'default' })),
  );
  (await hypervisor.openPort('one', web, signal)).dispose();
  const names = await hypervisor.openPort('one', { protocol: 'udp', guestPort: 53 }, signal);
  await names.write(new Uint8Array([1]));
  names.dispose();
  (await hypervisor.openPort('one', time, signal)).dispose();
  assert.deepEqual(
    (await scene.find('one')).forwards.map(({ protocol, guestPort }) => `${guestPort}/${protocol}`),
    ['22/tcp', '53/udp', '80/tcp', '123/udp'],
  );
  await scene.run('three');
  for (const port of [web, time])
    await scene.refuses(hypervisor.openPort('three', port, signal), 'BadRequest', /pod network/);
  await hypervisor.attachNic('three', scene.nic('late'), signal);
  (await hypervisor.openPort('three', web, signal)).dispose();
  assert.deepEqual(
    (await scene.find('three')).forwards.map(({ nic: name, guestPort }) => [name, guestPort]),
    [['late', 80]],
  );
}
