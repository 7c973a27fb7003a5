import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import { runProgram } from '../program.ts';
import { startSheaf } from '../sheaf-process.ts';
import { findKubectl } from '../tools.ts';
import { type Build, copyBuild, earlierBuild } from './builds.ts';
import { at, Installation } from './installation.ts';
import { askGuest, importTinyImage, tinyMachine } from './tiny-machines.ts';

const kubectl = await findKubectl();
const emulator = await runProgram('sh', ['-c', 'command -v qemu-system-x86_64']);
const missing = 'missing' in kubectl ? kubectl.missing : emulator.code === 0 ? false : 'there is no QEMU';

const ago = 20;
const laterVersion = '77.0.0';
const running = ['always', 'rerun'];
const notes = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default' } };
const extraClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'extra', namespace: 'default' },
  spec: { accessModes: ['ReadWriteMany'], volumeMode: 'Block', resources: { requests: { storage: '4Mi' } } },
};
const extraVolume = {
  name: 'extra',
  disk: { disk: { bus: 'scsi' } },
  volumeSource: { persistentVolumeClaim: { claimName: 'extra', hotpluggable: true } },
};

/** Of the volume that was plugged in while the machine ran. */
function phaseOfExtra(instance: JsonObject | undefined): unknown {
  const states = at(instance, 'status', 'volumeStatus');
  const extra = Array.isArray(states) ? states.find((state) => at(state, 'name') === 'extra') : undefined;
  return at(extra, 'phase');
}

/** Writes another number of its form into a store that nobody has open, and gives the one that it had. */
function changeForm(directory: string, form: number): number {
  const database = new DatabaseSync(join(directory, 'store.db'));
  const old = Number(database.prepare('SELECT format FROM state').get()?.['format']);
  database.prepare('UPDATE state SET format = ?').run(form);
  database.close();
  return old;
}

/** Whether a build serves anything at all. */
async function starts(build: Build): Promise<boolean> {
  const refusal = await refusalOf(startSheaf(build).then((sheaf) => sheaf.stop()));
  return refusal === undefined;
}

/** What a start that does not come to its end says. */
function refusalOf(start: Promise<unknown>): Promise<string | undefined> {
  return start.then(
    () => undefined,
    (error: unknown) => String(error),
  );
}

/** It tells the way out, and is no trace of a program. */
function checkWords(refusal: string): void {
  const [, ...said] = refusal.split('\n');
  assert.match(said.join('\n'), /^sheaf up: .* format .*\n {2}Start the newer program/);
  assert.doesNotMatch(said.join('\n'), /\n +at /);
}

describe('another build of Sheaf', { skip: missing }, () => {
  let sheaf: Installation;
  let builds: string;
  let later: Build;
  before(async () => {
    sheaf = await Installation.make('path' in kubectl ? kubectl.path : '');
    builds = await mkdtemp(join(tmpdir(), 'sheaf-builds-'));
    later = await copyBuild(join(builds, 'later'), laterVersion);
  });
  after(async () => {
    await sheaf.remove();
    await rm(builds, { recursive: true, force: true });
  });

  interface Life {
    readonly process: number;
    readonly uid: unknown;
    readonly boots: number;
    readonly ticks: number;
  }

  /** Of each machine that is to run, as its guest tells it. */
  async function lives(): Promise<readonly Life[]> {
    return Promise.all(
      running.map(async (name) => {
        await sheaf.until(['vm', name], (object) => at(object, 'status', 'ready') === true, {
          goal: `${name} is ready`,
        });
        const uid = at(await sheaf.find('vmi', name), 'metadata', 'uid');
        const { boots, ticks } = await askGuest(await sheaf.client(), name);
        return { process: await sheaf.processOf(String(uid)), uid, boots, ticks };
      }),
    );
  }

  async function checkSame(old: readonly Life[]): Promise<void> {
    const now = await lives();
    for (const [index, { ticks, ...life }] of old.entries()) {
      const { ticks: later = 0, ...same } = now[index] ?? {};
      assert.deepEqual(same, life, 'it is the same process, instance and boot');
      assert.ok(later > ticks, 'and the guest has run on meanwhile');
    }
    assert.equal((await sheaf.processes()).length, running.length);
    assert.equal(at(await sheaf.find('vm', 'off'), 'status', 'printableStatus'), 'Stopped');
    assert.equal(phaseOfExtra(await sheaf.find('vmi', 'rerun')), 'Ready');
  }

  /** What each build leaves for the others to find. */
  const leave = (name: string): Promise<void> =>
    sheaf.apply({ ...notes, metadata: { ...notes.metadata, name }, data: { by: name } });
  async function isThere(...names: readonly string[]): Promise<void> {
    for (const name of names) assert.equal(at(await sheaf.find('configmap', name), 'data', 'by'), name);
  }

  async function begin(): Promise<readonly Life[]> {
    const image = await importTinyImage(sheaf);
    const machines = { always: 'Always', rerun: 'RerunOnFailure', off: 'Halted' };
    const objects = Object.entries(machines).map(([name, runStrategy]) =>
      tinyMachine(image, { name, runStrategy }),
    );
    await sheaf.apply(extraClaim, ...objects);
    await lives();
    const target = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/rerun/addvolume';
    const { status } = await (await sheaf.client()).send({
      method: 'PUT',
      target,
      body: JSON.stringify(extraVolume),
    });
    assert.equal(status, 202);
    await sheaf.until(['vmi', 'rerun'], (object) => phaseOfExtra(object) === 'Ready', {
      goal: 'the volume is plugged in',
    });
    return lives();
  }

  /** A store whose form is that of a later version: it is refused, and machines run on. */
  async function checkLaterForm(): Promise<void> {
    const form = changeForm(sheaf.directory, 99);
    checkWords((await refusalOf(sheaf.start())) ?? '');
    assert.equal((await sheaf.processes()).length, running.length);
    changeForm(sheaf.directory, form);
  }

  it('takes machines over while they run, forth and back, stopped kindly or killed', async () => {
    await sheaf.start();
    const old = await begin();
    await leave('first');
    await sheaf.stop();
    await sheaf.start(later);
    assert.match(await sheaf.kubectl(['get', '--raw', '/version']), new RegExp(laterVersion));
    await checkSame(old);
    await leave('later');
    await sheaf.kill();
    await sheaf.start();
    await checkSame(old);
    await isThere('first', 'later');
    await sheaf.stop();
    await checkLaterForm();
    await sheaf.start(later);
    await checkSame(old);
    await sheaf.kubectl(['delete', 'vm', '--all', '--timeout=60s']);
    assert.deepEqual(await sheaf.processes(), []);
    await sheaf.stop();
  });

  it('takes over what an earlier one wrote, and leaves it readable or is refused in plain words', async (context) => {
    const build = await earlierBuild(join(builds, 'earlier'), { ago, starts });
    if ('missing' in build) return context.skip(build.missing);
    await sheaf.remove();
    sheaf = await Installation.make('path' in kubectl ? kubectl.path : '');
    await sheaf.start(build);
    const old = await begin();
    await leave('earlier');
    await sheaf.kill();
    await sheaf.start();
    await checkSame(old);
    await leave('later');
    await sheaf.stop();
    const refusal = await refusalOf(sheaf.start(build));
    if (refusal === undefined) await checkSame(old);
    else checkWords(refusal);
    await sheaf.kill();
    await sheaf.start();
    await checkSame(old);
    await isThere('earlier', 'later');
  });
});
