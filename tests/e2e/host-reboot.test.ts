import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runProgram } from '../program.ts';
import { findKubectl } from '../tools.ts';
import { at, eventually, Installation } from './installation.ts';
import { askGuest, importTinyImage, tellGuest, tinyMachine } from './tiny-machines.ts';
import { WatchedMachines } from './watched-machines.ts';

/** Gives a program a boot id of its own, as the kernel would after a reboot; then becomes it. */
const underBoot = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"';

const kubectl = await findKubectl();
const emulator = await runProgram('sh', ['-c', 'command -v qemu-system-x86_64']);
const namespaces = await runProgram('unshare', [
  ...['-m', 'sh', '-c', underBoot],
  '/proc/sys/kernel/random/uuid',
  'true',
]).catch(() => undefined);
const missing = whyMissing();

function whyMissing(): string | false {
  if ('missing' in kubectl) return kubectl.missing;
  if (emulator.code !== 0) return 'there is no QEMU';
  return namespaces?.code === 0 ? false : 'no mount namespace can be made here';
}

/** Each with where it is after its host has lost its power. */
const comeBack = ['always', 'rerun-0', 'rerun-1', 'rerun-2', 'rerun-3', 'rerun-4'];
const ended = { once: 'Failed', manual: 'Failed' };
const stayOff = ['rerun-shut-down', 'manual-off', 'halted'];

function strategyOf(name: string): string {
  const [word = ''] = name.split('-');
  return { always: 'Always', rerun: 'RerunOnFailure', once: 'Once', manual: 'Manual' }[word] ?? 'Halted';
}

describe('a host that loses its power', { skip: missing }, () => {
  let sheaf: Installation;
  let boots = 0;
  before(async () => {
    sheaf = await Installation.make('path' in kubectl ? kubectl.path : '');
  });
  after(() => sheaf.remove());

  async function boot(): Promise<void> {
    const path = join(sheaf.directory, `boot-${boots++}`);
    await writeFile(path, `${randomUUID()}\n`);
    await sheaf.start({ through: ['unshare', '-m', 'sh', '-c', underBoot, path] });
  }

  /** Sheaf first: it is not to see the others go. What it was about to launch goes with the next look. */
  async function losePower(): Promise<void> {
    await sheaf.kill();
    let quietLooks = 0;
    await eventually(
      async () => {
        quietLooks = (await sheaf.killMachines()) === 0 ? quietLooks + 1 : 0;
        return quietLooks > 3;
      },
      { goal: 'nothing runs' },
    );
  }

  const shows = (name: string, status: string): Promise<unknown> =>
    sheaf.until(['vm', name], (object) => at(object, 'status', 'printableStatus') === status, {
      goal: `${name} is ${status}`,
    });

  /** All that run have been booted so often altogether, from a disk of their own. */
  async function checkBoots(count: number): Promise<void> {
    const client = await sheaf.client();
    for (const name of comeBack) {
      await shows(name, 'Running');
      const word = await askGuest(client, name);
      assert.deepEqual([word.boots, word.diskOf], [count, word.machine], name);
    }
  }

  it('brings back who is to run, and nobody else', async () => {
    await boot();
    const image = await importTinyImage(sheaf);
    const names = [...comeBack, ...Object.keys(ended), ...stayOff];
    await sheaf.apply(...names.map((name) => tinyMachine(image, { name, runStrategy: strategyOf(name) })));
    const client = await sheaf.client();
    const target = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/manual/start';
    assert.equal((await client.send({ method: 'PUT', target, body: '{}' })).status, 202);
    for (const name of [...Object.keys(ended), 'rerun-shut-down']) await shows(name, 'Running');
    await checkBoots(1);
    await tellGuest(client, 'rerun-shut-down', 'power off');
    await shows('rerun-shut-down', 'Stopped');
    await losePower();
    await boot();
    await checkBoots(2);
    for (const [name, phase] of Object.entries(ended)) {
      const instance = await sheaf.find('vmi', name);
      assert.equal(at(instance, 'status', 'phase'), phase, name);
      assert.match(JSON.stringify(at(instance, 'status', 'conditions')), /the host was restarted/);
    }
    for (const name of stayOff) {
      await shows(name, 'Stopped');
      assert.equal(await sheaf.find('vmi', name), undefined, name);
    }
    assert.equal((await sheaf.processes()).length, comeBack.length);
  });

  it('does so when it loses its power again while they start, and counts that as no failure', async () => {
    await losePower();
    await boot();
    await eventually(async () => (await sheaf.processes()).length > 0, { goal: 'the first one starts' });
    await losePower();
    await boot();
    const client = await sheaf.client();
    const again = new WatchedMachines(client);
    for (const name of comeBack) {
      await shows(name, 'Running');
      const word = await askGuest(client, name);
      assert.ok(word.boots === 3 || word.boots === 4, `${name} was booted ${word.boots} times`);
      assert.equal(word.diskOf, word.machine);
    }
    for (const [name, { status }] of again.machines) assert.equal(status?.startFailure, undefined, name);
    await again.stop();
    for (const name of stayOff) await shows(name, 'Stopped');
    assert.equal((await sheaf.processes()).length, comeBack.length);
  });
});
