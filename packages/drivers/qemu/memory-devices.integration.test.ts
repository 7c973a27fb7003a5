import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DiskFile, MachineDisk, MachineNic, MachineSpec, Progress } from '@sheaf/ports';
import { mebibyte, Scene } from '@sheaf/ports/hypervisor/hypervisor-scene.fixture';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';

const disks = [
  { name: 'root', device: 'disk', bus: 'virtio', cache: 'none', limits: { operationsPerSecond: 500 } },
  { name: 'scsi', device: 'disk', bus: 'scsi', serial: 'scsi' },
  { name: 'sata', device: 'disk', bus: 'sata' },
  { name: 'usb', device: 'disk', bus: 'usb' },
] as const;

/** Everything that a machine can have besides its firmware. */
const everything: Partial<MachineSpec> = {
  memory: { bytes: 64 * mebibyte, maxBytes: 256 * mebibyte },
  cpu: { sockets: 1, cores: 2, threads: 1, maxSockets: 2 },
  hasGraphics: true,
  hasAgentChannel: true,
  hasRandomSource: true,
  hasBalloon: true,
  hasTablet: true,
  watchdog: { model: 'i6300esb', action: 'reset' },
};

async function keep(scene: Scene, id: string, order: Parameters<Scene['hypervisor']['saveMemory']>[1]) {
  let progress: Progress = { state: 'working', percent: 0 };
  await scene.until(async () => {
    progress = await scene.hypervisor.saveMemory(id, order, scene.signal);
    return progress.state !== 'working';
  });
  assert.deepEqual(progress, { state: 'done' });
}

async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  const world = await QemuWorld.make();
  try {
    const scene = new Scene(world);
    await scene.hypervisor.probe(scene.signal);
    await use(scene);
  } finally {
    await world.dispose();
  }
}

function withFiles(files: ReadonlyMap<string, DiskFile>): MachineDisk[] {
  const medium: MachineDisk = { name: 'medium', device: 'cdrom', bus: 'sata' };
  return [...disks.map((disk) => ({ ...disk, ...fileOf(files, disk.name) })), medium];
}

function fileOf(files: ReadonlyMap<string, DiskFile>, name: string): { readonly file?: DiskFile } {
  const file = files.get(name);
  return file ? { file } : {};
}

function nicsOf(scene: Scene): readonly MachineNic[] {
  const { world, hypervisor } = scene;
  const pod = scene.nic('pod');
  if (!world.bridge || !hypervisor.capabilities().bridges.isAvailable) return [pod];
  return [pod, { ...scene.nic('bridged'), link: { kind: 'bridge', bridge: world.bridge.name } }];
}

/** For each disk the file that it has, the one that it goes on in, and the one that it is restored to. */
async function makeFiles({ world }: Scene) {
  const files = {
    base: new Map<string, DiskFile>(),
    next: new Map<string, DiskFile>(),
    restored: new Map<string, DiskFile>(),
  };
  for (const { name } of disks) {
    const file = await world.makeDisk(name);
    files.base.set(name, file);
    files.next.set(name, await world.makeOverlay(`${name}-next`, file));
    files.restored.set(name, await world.makeOverlay(`${name}-restored`, file));
  }
  return files;
}

describe('QEMU and the memory of a machine with many devices', { skip: qemuIsMissing ?? false }, () => {
  it('goes on with all of them, also under another name', () =>
    withScene(async (scene) => {
      const { world, hypervisor, signal } = scene;
      const { base, next, restored } = await makeFiles(scene);
      const { tpm } = hypervisor.capabilities();
      const nics = nicsOf(scene);
      const spec = { ...everything, nics, ...(tpm.isAvailable && { tpm: {} }) };
      const console = await scene.run('one', { ...spec, disks: withFiles(base) });
      await console.type('R');
      await console.shows('guest ready, boot 2\n');
      const memoryPath = world.memoryPath('one');
      const switched = disks.map(({ name }) => ({ name, overlay: next.get(name) as DiskFile }));
      await keep(scene, 'one', { path: memoryPath, disks: switched });
      await hypervisor.end('one', signal);
      const { state, end } = await scene.start('two', { ...spec, disks: withFiles(restored), memoryPath });
      assert.deepEqual({ state, end }, { state: 'paused', end: undefined });
      const again = await scene.console('two');
      await hypervisor.resume('two', signal);
      assert.equal((await again.status()).boots, 2);
      const paths = new Map((await scene.find('two')).devices.map(({ name, path }) => [name, path]));
      for (const { name } of [{ name: 'medium' }, ...nics]) assert.ok(paths.has(name), name);
      for (const { name } of disks) assert.equal(paths.get(name), restored.get(name)?.path);
      // What is plugged in now finds its place beside what was there.
      const more = { ...scene.nic('more') };
      await hypervisor.attachNic('two', more, signal);
      await scene.when('two', ({ devices }) => devices.some(({ name }) => name === 'more'));
    }));

  it('goes on with EFI firmware, whose variables have changed since', () =>
    withScene(async (scene) => {
      const { world, hypervisor, signal } = scene;
      if (!hypervisor.capabilities().efi.isAvailable) return;
      const file = await world.makeDisk('root');
      const root: MachineDisk = { name: 'root', device: 'disk', bus: 'virtio', file };
      const firmware = { kind: 'efi', isSecureBoot: false, persistentKey: 'kept' } as const;
      const spec = { ...everything, firmware, memory: { bytes: 256 * mebibyte } };
      await scene.start('one', { ...spec, disks: [root] });
      await hypervisor.resume('one', signal);
      const overlay = await world.makeOverlay('next', file);
      const memoryPath = world.memoryPath('one');
      await keep(scene, 'one', { path: memoryPath, disks: [{ name: 'root', overlay }] });
      await hypervisor.end('one', signal);
      await hypervisor.forget('one', signal);
      await hypervisor.forgetPersistent('kept', signal);
      const disks = [{ ...root, file: await world.makeOverlay('restored', file) }];
      const { state, end } = await scene.start('two', { ...spec, disks, memoryPath });
      assert.deepEqual({ state, end }, { state: 'paused', end: undefined });
      await hypervisor.resume('two', signal);
      assert.equal((await scene.find('two')).state, 'running');
    }));
});
