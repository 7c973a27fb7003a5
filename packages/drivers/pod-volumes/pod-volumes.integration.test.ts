import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, rm, symlink } from 'node:fs/promises';
import { test } from 'node:test';
import type { PodVolumeSpec } from '@sheaf/ports';
import { testPodVolumes } from '@sheaf/ports/pod-volumes.contract';
import { mount } from './mount-table.ts';
import { PodVolumesHost } from './pod-volumes-host.fixture.ts';

const { memory, disks } = await PodVolumesHost.probe();
const whyNoDisks = disks.isAvailable ? undefined : `${disks.reason}; ${disks.wayOut}`;

testPodVolumes({
  driver: 'a directory of the host',
  withBench: (use) => PodVolumesHost.use(use),
  whyNoMounts: memory.isAvailable ? undefined : `${memory.reason}; ${memory.wayOut}`,
  whyNoDisks,
});

const { signal } = new AbortController();
const mebibyte = 2 ** 20;

async function dataSpec(host: PodVolumesHost): Promise<Extract<PodVolumeSpec, { kind: 'volume' }>> {
  const disk = await host.makeDisk(16 * mebibyte);
  return { name: 'data', kind: 'volume', volumeId: 'pvc-1', disk, isReadOnly: false, fileSystem: 'ext4' };
}

function testDisks(name: string, use: (host: PodVolumesHost) => Promise<void>): void {
  test(`a directory of the host: ${name}`, { skip: whyNoDisks ?? false }, () => PodVolumesHost.use(use));
}

testDisks('what has died behind a disk is made again, for all pods', async (host) => {
  const spec = await dataSpec(host);
  const { hostPath } = await host.volumes.ensure('pod', spec, signal);
  const other = await host.volumes.ensure('other', spec, signal);
  await host.write(`${hostPath}/a`, 'kept');
  await host.killExporters();
  await host.volumes.ensure('pod', spec, signal);
  await host.volumes.ensure('other', spec, signal);
  assert.equal(await host.read(`${hostPath}/a`), 'kept');
  assert.equal(await host.read(`${other.hostPath}/a`), 'kept');
  await host.killExporters();
  await host.volumes.remove('pod', signal);
  await host.volumes.remove('other', signal);
  assert.deepEqual(await host.traces(), []);
});

testDisks('a crash after any step is made good by a later life', async (host) => {
  const spec = await dataSpec(host);
  const { hostPath } = await host.volumes.ensure('pod', spec, signal);
  await host.write(`${hostPath}/a`, 'kept');
  for (const undo of host.stepsBack()) {
    await undo();
    await host.restart();
    await host.volumes.ensure('pod', spec, signal);
    assert.equal(await host.read(`${hostPath}/a`), 'kept');
  }
  for (const undo of host.stepsBack()) {
    await host.volumes.ensure('pod', spec, signal);
    await undo();
    await host.restart();
    await host.volumes.remove('pod', signal);
    assert.deepEqual(await host.traces(), []);
  }
});

testDisks('a life that is killed at any program is followed by one that goes on', async (host) => {
  const spec = await dataSpec(host);
  const dying = { podUid: 'pod', volume: spec } as const;
  await host.die({ ...dying, program: 'mount', when: 'after' });
  await host.die({ ...dying, program: 'losetup', when: 'before' });
  await host.die({ ...dying, program: 'losetup', when: 'after' });
  await host.die({ ...dying, program: 'mkfs.ext4', when: 'before' });
  await host.die({ ...dying, program: 'mkfs.ext4', when: 'after' });
  const { hostPath } = await host.volumes.ensure('pod', spec, signal);
  await host.write(`${hostPath}/a`, 'kept');
  for (const when of ['before', 'after'] as const)
    for (const program of ['umount', 'losetup']) {
      await host.die({ podUid: 'pod', program, when });
      await host.volumes.remove('pod', signal);
      assert.deepEqual(await host.traces(), []);
      await host.volumes.ensure('pod', spec, signal);
      assert.equal(await host.read(`${hostPath}/a`), 'kept');
    }
});

testDisks('a disk that an earlier life has begun to show is not that of now', async (host) => {
  const [old, now] = [await dataSpec(host), await dataSpec(host)];
  const before = await host.read(old.disk.path);
  await host.die({ podUid: 'pod', volume: old, program: 'losetup', when: 'before' });
  await assert.rejects(host.volumes.ensure('pod', now, signal), {
    reason: 'Conflict',
    message: /gone on in another file .*try again/,
  });
  assert.equal(await host.read(old.disk.path), before);
  const { hostPath } = await host.volumes.ensure('pod', now, signal);
  await host.write(`${hostPath}/a`, 'kept');
  await host.volumes.remove('pod', signal);
  assert.deepEqual(await host.traces(), []);
  assert.equal(await host.read(old.disk.path), before);
});

testDisks('a disk that a process uses stays whole until it is let go', async (host) => {
  const spec = await dataSpec(host);
  const { hostPath } = await host.volumes.ensure('pod', spec, signal);
  await host.write(`${hostPath}/a`, 'kept');
  const file = await open(`${hostPath}/a`);
  await assert.rejects(host.volumes.remove('pod', signal), {
    reason: 'ServerTimeout',
    message: /busy.*end the containers/,
  });
  const other = await host.volumes.ensure('other', spec, signal);
  assert.equal(await host.read(`${other.hostPath}/a`), 'kept');
  await file.close();
  await host.volumes.remove('pod', signal);
  await host.volumes.remove('other', signal);
  assert.deepEqual(await host.traces(), []);
});

testDisks('a program with a copy of all mounts lets go of a disk when it is let go of here', async (host) => {
  const spec = await dataSpec(host);
  await host.volumes.ensure('pod', spec, signal);
  const { hostPath } = await host.volumes.ensure('other', spec, signal);
  const namespace = ['--mount', '--propagation', 'slave'];
  const child = spawn('unshare', [
    ...namespace,
    'sh',
    '-c',
    'grep -c . /proc/self/mountinfo; exec sleep 1000',
  ]);
  try {
    await once(child.stdout, 'data');
    await host.write(`${hostPath}/a`, 'kept');
    await host.volumes.remove('pod', signal);
    await host.volumes.remove('other', signal);
    assert.deepEqual(await host.traces(), []);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});

testDisks('a disk with something else on it is left alone', async (host) => {
  const spec = await dataSpec(host);
  // A partition table, as installers write it: its signature and one entry.
  const table = Buffer.alloc(mebibyte);
  table.set([0, 32, 33, 0, 0x83, 10, 20, 0, 0, 8, 0, 0, 0, 16, 0, 0], 446);
  table.set([0x55, 0xaa], 510);
  await host.fillDisk(spec.disk, table);
  await assert.rejects(host.volumes.ensure('pod', spec, signal), {
    reason: 'BadRequest',
    message: /has a partition table \(dos\) on it/,
  });
  await host.volumes.remove('pod', signal);
  assert.deepEqual(await host.traces(), []);
});

testDisks('nothing is removed behind a link or a mount', async (host) => {
  const { volumes } = host;
  const away = await volumes.ensure(
    'pod',
    { name: 'away', kind: 'host', path: host.hostPath('away'), type: 'DirectoryOrCreate' },
    signal,
  );
  await host.write(`${away.hostPath}/precious`, 'kept');
  const { hostPath } = await volumes.ensure(
    'pod',
    { name: 'scratch', kind: 'directory', medium: 'disk' },
    signal,
  );
  await symlink(away.hostPath, `${hostPath}/link`);
  await mkdir(`${hostPath}/mounted`);
  await mount('--bind', away.hostPath, `${hostPath}/mounted`);
  await volumes.remove('pod', signal);
  assert.equal(await host.read(`${away.hostPath}/precious`), 'kept');
  assert.deepEqual(await host.traces(), []);
});

test('a directory of the host: what a container does to its files is put right', () =>
  PodVolumesHost.use(async (host) => {
    const spec: PodVolumeSpec = {
      name: 'config',
      kind: 'files',
      files: [{ path: 'a', bytes: Buffer.from('one'), mode: 0o644 }],
    };
    const { hostPath } = await host.volumes.ensure('pod', spec, signal);
    await mkdir(host.hostPath('away'), { recursive: true });
    await rm(`${hostPath}/..data`);
    await symlink(host.hostPath('away'), `${hostPath}/..data`);
    await rm(`${hostPath}/a`);
    await mkdir(`${hostPath}/a`);
    await host.volumes.ensure('pod', spec, signal);
    assert.equal(await host.read(`${hostPath}/a`), 'one');
    assert.deepEqual(await host.entries(host.hostPath('away')), []);
  }));
