import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { MachineSpec } from '@sheaf/ports';
import { MachineFiles, type MachineRecord } from './machine-files.ts';
import { PersistentState } from './persistent-state.ts';

function recordOf(title: string): MachineRecord {
  const spec: MachineSpec = {
    id: 'one',
    title,
    identity: { uuid: '00000000-0000-0000-0000-000000000000' },
    machineType: 'q35',
    firmware: { kind: 'bios' },
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { bytes: 4 * 1024 * 1024 },
    disks: [],
    nics: [],
    hasGraphics: false,
    hasSerialConsole: false,
    hasAgentChannel: false,
    hasRandomSource: false,
    hasBalloon: false,
  };
  return { spec, accelerator: 'tcg', program: '/usr/bin/true', startedAt: 0, bootId: 'boot' };
}

const rounds = Array.from({ length: 50 }, (_, index) => index);

describe('what a machine writes down', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'machine-files-'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  test('two lives in one process write the same files at the same time', async () => {
    const lives = [new MachineFiles(directory), new MachineFiles(directory)];
    for (const guestResets of rounds)
      await Promise.all(lives.map((life) => life.updateNotes((notes) => ({ ...notes, guestResets }))));
    assert.deepEqual(await lives[0]?.readNotes(), { guestResets: rounds.at(-1), leaving: [] });
    assert.deepEqual(await readdir(directory), ['notes.json']);
  });

  test('a record that another life has written anew is read anew', async () => {
    const [one, other] = [new MachineFiles(directory), new MachineFiles(directory)];
    assert.equal(await one.readRecord(), undefined);
    for (const title of ['first', 'other', 'third']) {
      const record = recordOf(title);
      await other.writeRecord(record);
      assert.deepEqual(await one.readRecord(), record);
      assert.equal(await one.readRecord(), await one.readRecord());
    }
    await rm(join(directory, 'machine.json'));
    assert.equal(await one.readRecord(), undefined);
  });

  test('the first end holds for every life', async () => {
    const lives = [new MachineFiles(directory), new MachineFiles(directory)];
    const causes = ['guest-shutdown', 'stopped'] as const;
    const ends = await Promise.all(
      lives.map((life, index) => life.recordEnd({ cause: causes[index] ?? 'stopped' })),
    );
    assert.equal(new Set(ends.map(({ cause }) => cause)).size, 1);
    assert.deepEqual(await readdir(directory), ['end.json']);
  });

  test('variables that a machine uses are not replaced by a second start', async () => {
    const template = join(directory, 'template');
    await writeFile(template, 'as delivered');
    const state = new PersistentState(join(directory, 'persistent'));
    const paths = await Promise.all(
      rounds.map((index) => state.ensureVariables(`key-${index % 2}`, directory, template)),
    );
    await writeFile(paths[0] ?? '', 'as the guest left them');
    await state.ensureVariables('key-0', directory, template);
    assert.equal(await readFile(paths[0] ?? '', 'utf8'), 'as the guest left them');
    assert.deepEqual(await readdir(join(directory, 'persistent', 'key-0')), ['efi-variables.fd']);
  });
});
