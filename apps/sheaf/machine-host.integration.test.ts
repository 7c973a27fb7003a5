import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { type MachineHost, openMachineHost } from './machine-host.ts';
import { nodeNameOf } from './node-name.ts';

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-host-'));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function openWithoutEmulator(dataDir: string): Promise<MachineHost> {
  const surroundings = { clock: systemClock, random: systemRandom, logger: silentLogger };
  return openMachineHost({ ...surroundings, dataDir, emulator: 'qemu-of-nobody' });
}

it('a host without a program for machines opens, says so with a way out, and runs none', async () => {
  await withDirectory(async (directory) => {
    const host = await openWithoutEmulator(directory);
    try {
      const machines = (await host.capabilities()).find(({ name }) => name === 'machines');
      assert.equal(machines?.isAvailable, false);
      assert.match(machines.wayOut ?? '', /apt-get install qemu-system-x86/);
      assert.deepEqual(await host.countRunning(), { machines: 0, pods: 0 });
    } finally {
      await host.close();
    }
  });
});

it('a host knows bridges from other devices, and asks for no other file', async () => {
  await withDirectory(async (directory) => {
    const host = await openWithoutEmulator(directory);
    try {
      assert.deepEqual(
        ['lo', 'nobody', '..', '../../etc', ''].map((name) => host.hasBridge(name)),
        [false, false, false, false, false],
      );
      assert.ok(host.memoryBytes > 0);
    } finally {
      await host.close();
    }
  });
});

it('a node keeps the name that it was given first', async () => {
  await withDirectory(async (directory) => {
    assert.equal(await nodeNameOf(directory, 'My_Host.local'), 'my-host.local');
    assert.equal(await nodeNameOf(directory, 'renamed'), 'my-host.local');
  });
  await withDirectory(async (directory) => assert.equal(await nodeNameOf(directory, '___'), 'node'));
});
