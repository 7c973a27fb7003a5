import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { resources } from '@sheaf/client';
import type { DiskFile, Hypervisor } from '@sheaf/ports';
import { until } from '../../packages/drivers/local-disk/local-disk.fixture.ts';
import { openNewFile } from '../../packages/drivers/qemu/open-behind-back.fixture.ts';
import { withLocalStorage } from './local-storage.ts';
import { createBound, place, type RealMachines, signal, startMachine, withQemu } from './real-machine.ts';

type Switch = Parameters<Hypervisor['switchDisks']>;

/** The machines, until someone wants to switch a disk: what is done then is the last thing that this life does. */
function dyingAt(
  hypervisor: Hypervisor,
  last: (...call: Switch) => Promise<void>,
): { readonly machines: Hypervisor; readonly dead: Promise<void> } {
  const { promise: dead, resolve } = Promise.withResolvers<void>();
  const switchDisks = async (...call: Switch): Promise<void> => {
    await last(...call);
    resolve();
    await new Promise((_, reject) => {
      call[2].addEventListener('abort', () => reject(new Error('it has died')), { once: true });
    });
  };
  const machines = new Proxy(hypervisor, {
    get(target, name) {
      if (name === 'switchDisks') return switchDisks;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { machines, dead };
}

interface Aftermath {
  /** Where the machine has written since its start. */
  readonly first: DiskFile;
  /** Where the machine writes, and where the driver has it write, when the snapshot is gone. */
  readonly written: string | undefined;
  readonly told: string | undefined;
}

/** A snapshot under a machine, whose taker dies with its last deed and which is deleted before anybody goes on with it. */
async function deletedAfter(
  { hypervisor, reopen }: RealMachines,
  last: (...call: Switch) => Promise<void>,
): Promise<Aftermath> {
  const { machines, dead } = dyingAt(hypervisor, last);
  let aftermath: Aftermath | undefined;
  await withLocalStorage(machines, async (client, bench, lives) => {
    const volumeId = await createBound(client, 'v');
    const find = async () => (await bench.volumes.find(volumeId, signal)) ?? assert.fail('no volume');
    const { file: first } = await find();
    const id = await startMachine(client, hypervisor, [{ claimName: 'v', file: first }]);
    const snapshots = resources.volumeSnapshots;
    const spec = { source: { persistentVolumeClaimName: 'v' } };
    await client.create(snapshots, { metadata: place('s'), spec });
    await dead;
    await lives.end();
    hypervisor.dispose();
    await client.delete(snapshots, place('s'));
    const next = reopen();
    lives.begin(next);
    await until(async () => (await client.find(snapshots, place('s'))) === undefined);
    assert.deepEqual((await client.list(resources.volumeSnapshotContents)).items, []);
    assert.deepEqual(await bench.volumes.listSnapshots(signal), []);
    const written = (await next.find(id, signal))?.devices[0]?.path;
    aftermath = { first, written, told: (await find()).file.path };
    await next.end(id, signal);
    await next.forget(id, signal);
    await client.delete(resources.virtualMachineInstances, place('m'));
    await client.delete(resources.persistentVolumeClaims, place('v'));
    await until(async () => (await bench.volumes.list(signal)).length === 0);
  });
  return aftermath ?? assert.fail('it did not come to its end');
}

describe('a snapshot that is deleted when its taker has died', { timeout: 180_000 }, () => {
  it('after the machine had switched, and before anybody was told', (context: TestContext) =>
    withQemu(context, async (machines) => {
      const { first, written, told } = await deletedAfter(machines, (...call) =>
        machines.hypervisor.switchDisks(...call),
      );
      assert.notEqual(written, first.path, 'it had switched');
      assert.equal(told, written);
    }));

  it('after the new file was opened, and before the machine switched to it', (context: TestContext) =>
    withQemu(context, async (machines) => {
      const { directory } = machines;
      const { first, written, told } = await deletedAfter(machines, async (id, disks) => {
        for (const { name, overlay } of disks)
          await openNewFile(directory, { id, disk: name, file: overlay });
      });
      assert.deepEqual([written, told], [first.path, first.path]);
    }));
});
