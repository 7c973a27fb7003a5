import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DebianGuest, findGuestTools, makeDebianImage } from './debian-guest.ts';
import { type FileServer, serveFile } from './file-server.ts';
import { checkSnapshot, restoreSnapshot, takeSnapshot } from './guest-snapshot.ts';
import { cloudInitSecret, harvesterMachine } from './harvester-machine.ts';
import { at, eventually, Installation } from './installation.ts';

const tools = await findGuestTools();
const name = 'web';
const machine = ['vm', name] as const;
const instance = ['vmi', name] as const;
const restarts = 10;

describe('a virtual machine on a whole Sheaf', { skip: tools.missing ?? false }, () => {
  let sheaf: Installation;
  let guest: DebianGuest;
  let images: FileServer;

  before(async () => {
    sheaf = await Installation.make(tools.kubectl);
    images = await serveFile(tools.disk);
    guest = await DebianGuest.make(name, sheaf, tools);
    await sheaf.start();
  });
  after(async () => {
    await images.close();
    await sheaf.remove();
  });

  const guestSays = (command: string): Promise<string> => guest.says(command);

  async function processId(): Promise<number> {
    const [only = 0, ...more] = await sheaf.processes();
    assert.deepEqual([only > 0, more], [true, []], 'one process for one machine');
    return only;
  }

  const backup = 'before';
  const subject = () => ({ sheaf, machine: name, claim, guestSays });
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  let bootId = '';
  let claim = `${name}-disk-0`;
  let witness = '';

  it('comes from an image by its address, a claim template and cloud-init data, all applied at once', async () => {
    const storageClass = await makeDebianImage(sheaf, images.url);
    await sheaf.apply(
      harvesterMachine({ name, storageClass, imageId: 'default/debian' }),
      cloudInitSecret(guest),
    );
    await guest.shows('Running');
    assert.match(await guestSays('cloud-init status --wait'), /status: done/);
    assert.equal(await guestSays('cat /var/lib/marker'), 'written-by-cloud-init');
    bootId = await guestSays('cat /proc/sys/kernel/random/boot_id');
    assert.equal(at(await sheaf.find('pvc', claim), 'status', 'phase'), 'Bound');
  });

  it('runs on while Sheaf is killed and started again, ten times', async () => {
    const [process, uid] = [await processId(), at(await sheaf.find(...instance), 'metadata', 'uid')];
    for (let round = 0; round < restarts; round++) {
      await sheaf.kill();
      assert.equal(await processId(), process);
      await sheaf.start();
      await sheaf.until(machine, (object) => at(object, 'status', 'ready') === true, {
        goal: 'the machine is ready again',
      });
    }
    const found = await sheaf.find(...instance);
    assert.deepEqual([at(found, 'metadata', 'uid'), at(found, 'status', 'phase')], [uid, 'Running']);
    assert.equal(await guestSays('cat /proc/sys/kernel/random/boot_id'), bootId, 'it is the same boot');
  });

  it('is kept in a snapshot while its guest writes, with its file system frozen by the guest agent', async () => {
    witness = await takeSnapshot(subject(), backup);
    await checkSnapshot(subject(), { backup, sum: witness }, sha256);
  });

  it('stays off when its guest shuts down', async () => {
    await guest.run('sudo poweroff');
    await guest.shows('Stopped');
    await sheaf.until(instance, (object) => object === undefined, { goal: 'the instance is gone' });
    assert.deepEqual(await sheaf.processes(), []);
  });

  it('is started by virtctl with what was on its disk at the snapshot that it was brought back to', async () => {
    claim = await restoreSnapshot(subject(), backup);
    await sheaf.until(['pvc', `${name}-disk-0`], (object) => object === undefined, {
      goal: 'the disk that was replaced is gone',
    });
    const started = await guest.control('start', name);
    assert.equal(started.code, 0, started.out);
    await guest.shows('Running');
    const files = '/var/lib/marker /proc/sys/kernel/random/boot_id';
    const said = await guestSays(`cat ${files}; sudo sha256sum /var/lib/witness`);
    const [marker, boot, sum] = said.split('\n');
    assert.equal(marker, 'written-by-cloud-init');
    assert.notEqual(boot, bootId);
    assert.equal(sum?.split(' ')[0], witness);
  });

  it('runs again after its kernel panicked, and tells so', async () => {
    const uid = at(await sheaf.find(...instance), 'metadata', 'uid');
    const panic = '(sleep 1; echo c >/proc/sysrq-trigger) </dev/null >/dev/null 2>&1 &';
    const { code, out } = await guest.run(`sudo sh -c '${panic}'`);
    assert.equal(code, 0, out);
    await sheaf.until(
      instance,
      (object) => at(object, 'metadata', 'uid') !== uid && at(object, 'status', 'phase') === 'Running',
      { goal: 'another instance runs' },
    );
    const about = `involvedObject.uid=${String(uid)}`;
    const words = ['-o', 'jsonpath={.items[*].message}'];
    assert.match(
      await sheaf.kubectl(['get', 'events', '--field-selector', about, ...words]),
      /the guest has crashed: the guest reported a panic/,
    );
  });

  it('runs again after its process was killed', async () => {
    const uid = at(await sheaf.find(...instance), 'metadata', 'uid');
    const first = await processId();
    process.kill(first, 'SIGKILL');
    await sheaf.until(
      instance,
      (object) => at(object, 'metadata', 'uid') !== uid && at(object, 'status', 'phase') === 'Running',
      { goal: 'another instance runs' },
    );
    assert.notEqual(await processId(), first);
  });

  it('goes without a trace, with the volume that is named for it, and so does its image', async () => {
    await sheaf.kubectl(['delete', 'vmbackup', backup, '--timeout=60s']);
    const named = `harvesterhci.io/removedPersistentVolumeClaims=${claim}`;
    await sheaf.kubectl(['annotate', 'vm', name, named]);
    await sheaf.kubectl(['delete', 'vm', name, '--timeout=60s']);
    await sheaf.until(['pvc', claim], (object) => object === undefined, { goal: 'the claim is gone' });
    await sheaf.kubectl(['delete', 'virtualmachineimage', 'debian', '--timeout=60s']);
    assert.deepEqual(await sheaf.processes(), []);
    const left = async (): Promise<readonly string[]> => {
      const parts = ['machines/machines', 'machines/persistent', 'machine-files'];
      const disks = ['volumes', 'images', 'snapshots', 'layers', 'incoming', 'work'];
      const folders = [...parts, ...disks.map((part) => `volumes/${part}`)];
      const names = folders.map(async (folder) => readdir(join(sheaf.directory, folder)));
      return (await Promise.all(names)).flat();
    };
    await eventually(async () => (await left()).length === 0, { goal: 'no file is left' });
    const volumes = await sheaf.kubectl(['get', 'pv', '-o', 'name']);
    assert.equal(volumes, '');
  });
});
