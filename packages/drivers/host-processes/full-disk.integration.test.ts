import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContainersScene } from '@sheaf/ports/containers/containers-scene.fixture';
import { HostProcessWorld } from './host-world.fixture.ts';

const mayMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;

function mounted(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

test('a program goes on where its disk is full, and its end is told when there is room', {
  skip: mayMount ? false : 'a small file system is mounted, which takes root',
}, async () => {
  const world = await HostProcessWorld.make();
  const { directory } = world.files;
  await world.makeDirectory('../state');
  mounted('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory);
  try {
    const scene = new ContainersScene(world);
    const gate = await world.makeDirectory('gate');
    const mounts = [{ hostPath: gate, containerPath: '/gate' }];
    await scene.sandbox();
    await scene.start('one', ['print ready', 'stay'], { mounts });
    await scene.shows('one', 'ready');
    const fill = join(directory, 'fill');
    await assert.rejects(writeFile(fill, Buffer.alloc(2 ** 21)), { code: 'ENOSPC' });
    const stopping = scene.containers.stopContainer('one', { graceMs: 0 }, scene.signal);
    // What is killed has ended, and there is no room to say so.
    await world.pass(1000);
    assert.equal((await scene.find('one')).end, undefined);
    await rm(fill);
    await stopping;
    assert.deepEqual(await scene.endOf('one'), { cause: 'exited', exitCode: 137 });
  } finally {
    await world.endProcesses();
    spawnSync('umount', [directory]);
    await world.dispose();
  }
});
