import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Client } from '@sheaf/client';
import { runProgram } from '../program.ts';
import { findKubectl } from '../tools.ts';
import { at, eventually, Installation } from './installation.ts';
import { askGuest, type GuestWord, importTinyImage, tellGuest, tinyMachine } from './tiny-machines.ts';

const kubectl = await findKubectl();
const emulator = await runProgram('sh', ['-c', 'command -v qemu-system-x86_64']);
const missing = 'missing' in kubectl ? kubectl.missing : emulator.code === 0 ? false : 'there is no QEMU';

describe('a snapshot with the memory of a machine', { skip: missing }, () => {
  let sheaf: Installation;
  let client: Client;
  let atSnapshot: GuestWord;
  before(async () => {
    sheaf = await Installation.make('path' in kubectl ? kubectl.path : '');
    await sheaf.start();
    client = await sheaf.client();
  });
  after(() => sheaf.remove());

  const command = async (...words: readonly string[]): Promise<string> => {
    const { code, out, err } = await sheaf.sheaf(...words);
    assert.equal(code, 0, err);
    return out;
  };
  const resetTo = async (boots: number): Promise<void> => {
    await tellGuest(client, 'm', 'reset');
    await eventually(async () => (await askGuest(client, 'm')).boots === boots, {
      goal: `the guest boots for time ${boots}`,
    });
  };
  const restore = async (name: string, haltAfterRestore: boolean): Promise<void> => {
    await command('vm', 'stop', 'm', '--force');
    await sheaf.apply({
      apiVersion: 'harvesterhci.io/v1beta1',
      kind: 'VirtualMachineRestore',
      metadata: { name, namespace: 'default' },
      spec: {
        target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'm' },
        virtualMachineBackupName: 'kept',
        virtualMachineBackupNamespace: 'default',
        newVM: false,
        deletionPolicy: 'delete',
        haltAfterRestore,
      },
    });
    await sheaf.until(['vmrestore', name], (object) => at(object, 'status', 'complete') === true, {
      goal: 'the machine is what it was',
    });
  };
  const files = (): Promise<readonly string[]> => readdir(join(sheaf.directory, 'volumes', 'memory-files'));

  it('is taken while the guest goes on', async () => {
    const image = await importTinyImage(sheaf);
    await sheaf.apply(tinyMachine(image, { name: 'm', runStrategy: 'RerunOnFailure', hasSeed: true }));
    atSnapshot = await askGuest(client, 'm');
    assert.equal(atSnapshot.boots, 1);
    assert.equal(await command('vm', 'snapshot', 'm', '--name', 'kept', '--memory'), 'kept\n');
    const word = await askGuest(client, 'm');
    assert.equal(word.boots, 1);
    assert.ok(word.ticks >= atSnapshot.ticks);
    await resetTo(2);
  });

  it('is gone on from where it was taken: nothing boots, and the time of the guest goes on', async () => {
    await restore('again', false);
    await sheaf.until(['vm', 'm'], (object) => at(object, 'status', 'printableStatus') === 'Running', {
      goal: 'the machine runs',
    });
    const word = await askGuest(client, 'm');
    assert.deepEqual({ ...word, ticks: 0 }, { ...atSnapshot, ticks: 0 });
    assert.ok(word.ticks >= atSnapshot.ticks);
    // What it is started with from now on is its disks, which have been booted once before.
    await resetTo(2);
    await command('vm', 'restart', 'm', '--force');
    assert.equal((await askGuest(client, 'm')).boots, 3);
  });

  it('is gone on from by the next start, also when the program has died before that', async () => {
    await restore('later', true);
    await sheaf.kill();
    await sheaf.start();
    client = await sheaf.client();
    await command('vm', 'start', 'm');
    assert.equal((await askGuest(client, 'm')).boots, 1);
  });

  it('is not gone on from by a machine that has changed: it says why, and boots when it is restarted', async () => {
    await restore('changed', true);
    const patch = { spec: { template: { spec: { domain: { memory: { guest: '48Mi' } } } } } };
    await sheaf.kubectl(['patch', 'vm', 'm', '--type=merge', '-p', JSON.stringify(patch)]);
    await command('vm', 'start', 'm', '--no-wait');
    let said = '';
    await eventually(
      async () => {
        said = await command('why', 'vm/m');
        return /changed since: memory.bytes/.test(said);
      },
      { goal: 'it says why it does not start' },
      () => said,
    );
    assert.match(said, /restart the machine, and it boots from its disks/);
    await command('vm', 'restart', 'm', '--force');
    assert.equal((await askGuest(client, 'm')).boots, 2);
  });

  it('goes with its memory', async () => {
    assert.equal((await files()).length, 1);
    await command('vm', 'stop', 'm', '--force');
    await sheaf.kubectl(['delete', 'vmbackup', 'kept', '--timeout=60s']);
    await eventually(async () => (await files()).length === 0, { goal: 'the memory is gone' });
  });
});
