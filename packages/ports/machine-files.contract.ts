import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedAs, signal } from './disk-bench.fixture.ts';
import type { DiskFile } from './hypervisor/machine-devices.ts';
import type { MachineFile, MachineFiles } from './machine-files.ts';

export interface MachineFilesBench {
  /** Those of the present life of the driver. */
  readonly files: MachineFiles;
  read(file: DiskFile): Promise<Uint8Array>;
  /** As the guest writes: at the beginning. */
  write(file: DiskFile, bytes: Uint8Array): Promise<void>;
  /** Whether others than the owner may look at it. */
  isPrivate(file: DiskFile): Promise<boolean>;
  /** The driver begins again on the same medium, after a crash in the middle of making a file. */
  crash(): Promise<void>;
  /** Names of all that is kept for machines. */
  traces(): Promise<readonly string[]>;
}

type WithBench = (use: (bench: MachineFilesBench) => Promise<void>) => Promise<void>;

const idle = { isInUse: false, signal } as const;
const inUse = { isInUse: true, signal } as const;
const blankBytes = 3 * 1024 * 1024;

/** What every driver of `MachineFiles` must do. */
export function testMachineFiles(driver: string, withBench: WithBench): void {
  const check = (name: string, use: (bench: MachineFilesBench) => Promise<void>): void => {
    test(`${driver}: ${name}`, () => withBench(use));
  };
  check('a seed has its bytes, the newest ones unless a process has it open', seeds);
  check('a scratch disk is empty at first and keeps what the guest wrote', scratchDisks);
  check('machines have files of their own, which go with them', removal);
  check('half made files are never seen', crashes);
  check('names that would be other files are refused', hostileNames);
}

function seedOf(text: string, name = 'seed'): MachineFile {
  return { kind: 'seed', name, bytes: Buffer.from(text) };
}

async function textOf(bench: MachineFilesBench, file: DiskFile): Promise<string> {
  return Buffer.from(await bench.read(file)).toString();
}

async function seeds(bench: MachineFilesBench): Promise<void> {
  const { files } = bench;
  const first = await files.ensure('a', seedOf('one'), idle);
  assert.equal(first.format, 'raw');
  assert.equal(await textOf(bench, first), 'one');
  assert.equal(await bench.isPrivate(first), true);
  assert.deepEqual(await files.ensure('a', seedOf('two'), inUse), first);
  assert.equal(await textOf(bench, first), 'one', 'a process has it open');
  assert.deepEqual(await files.ensure('a', seedOf('two'), idle), first);
  assert.equal(await textOf(bench, first), 'two');
  const plugged = await files.ensure('a', seedOf('three', 'late'), inUse);
  assert.equal(await textOf(bench, plugged), 'three', 'one that is not there yet is made, whoever runs');
}

async function scratchDisks(bench: MachineFilesBench): Promise<void> {
  const blank: MachineFile = { kind: 'blank', name: 'scratch', sizeBytes: blankBytes };
  const file = await bench.files.ensure('a', blank, idle);
  const empty = await bench.read(file);
  assert.deepEqual([empty.length, empty.every((byte) => byte === 0)], [blankBytes, true]);
  await bench.write(file, Buffer.from('guest'));
  assert.deepEqual(await bench.files.ensure('a', blank, idle), file);
  assert.match(await textOf(bench, file), /^guest/);
}

async function removal(bench: MachineFilesBench): Promise<void> {
  const { files } = bench;
  const mine = await files.ensure('a', seedOf('mine'), idle);
  const other = await files.ensure('b', seedOf('other'), idle);
  assert.notEqual(mine.path, other.path);
  assert.deepEqual(await files.list(signal), ['a', 'b']);
  await files.remove('a', signal);
  await files.remove('a', signal);
  await files.remove('never-there', signal);
  assert.deepEqual(await files.list(signal), ['b']);
  assert.equal(await textOf(bench, other), 'other');
  await files.remove('b', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function crashes(bench: MachineFilesBench): Promise<void> {
  await bench.files.ensure('a', seedOf('whole'), idle);
  await bench.crash();
  assert.deepEqual(await bench.files.list(signal), ['a']);
  const file = await bench.files.ensure('a', seedOf('whole'), idle);
  assert.equal(await textOf(bench, file), 'whole');
  await bench.files.remove('a', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function hostileNames({ files }: MachineFilesBench): Promise<void> {
  for (const name of ['..', 'a/b', '', '.hidden', 'x'.repeat(200)]) {
    await assert.rejects(files.ensure('a', seedOf('x', name), idle), refusedAs('BadRequest', /name/));
    await assert.rejects(files.ensure(name, seedOf('x'), idle), refusedAs('BadRequest', /name/));
    await assert.rejects(files.remove(name, signal), refusedAs('BadRequest', /name/));
  }
}
