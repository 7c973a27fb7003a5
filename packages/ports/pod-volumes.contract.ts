import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mebibyte, refusedAs, signal } from './disk-bench.fixture.ts';
import type { DiskFile } from './hypervisor/machine-devices.ts';
import type { PodVolumeSpec, PodVolumes, VolumeFile } from './pod-volumes.ts';

/** A driver, and the host around it. */
export interface PodVolumesBench {
  /** Those of the present life of the driver. */
  readonly volumes: PodVolumes;
  /** One that files may be given to. */
  readonly group: number;
  /** A place of the host that is the test's own; nothing is there. */
  hostPath(name: string): string;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** What is seen in a directory, sorted. */
  entries(path: string): Promise<readonly string[]>;
  look(path: string): Promise<{ readonly mode: number; readonly group: number }>;
  /** Differs when files of a volume were written in between. */
  versionOf(path: string): Promise<string>;
  /** Bytes of the file system. */
  capacity(path: string): Promise<number>;
  makeDisk(bytes: number): Promise<DiskFile>;
  growDisk(disk: DiskFile, bytes: number): Promise<void>;
  /** As a virtual machine has it open, until what it answers is called. */
  openDisk(disk: DiskFile): Promise<() => Promise<void>>;
  /** From now on nobody may begin to write to it: its volume has gone on in another file. */
  outdate(disk: DiskFile): void;
  /** The driver ends, wherever it is, and begins again. */
  restart(): Promise<void>;
  restartHost(): Promise<void>;
  /** All that is there of volumes: names of files, mounts, devices, processes. */
  traces(): Promise<readonly string[]>;
}

export interface PodVolumesSuite {
  readonly driver: string;
  readonly withBench: (use: (bench: PodVolumesBench) => Promise<void>) => Promise<void>;
  /** Why file systems cannot be mounted here; absent: they can. */
  readonly whyNoMounts?: string | undefined;
  readonly whyNoDisks?: string | undefined;
}

type Check = (bench: PodVolumesBench) => Promise<void>;
type Skip = string | undefined;

/** What every driver of `PodVolumes` must do. */
export function testPodVolumes({ driver, withBench, whyNoMounts, whyNoDisks }: PodVolumesSuite): void {
  const check = (name: string, use: Check, skip?: Skip): void => {
    test(`${driver}: ${name}`, { skip: skip ?? false }, () => withBench(use));
  };
  check('files have their paths, modes and group', files);
  check('files change together, and only if they are others', changedFiles);
  check('directories are empty at first and keep what is written', directories);
  check('directories in memory have a size, and end with the power', memory, whyNoMounts);
  check('paths of the host are looked at, or made', hostPaths);
  check('last words are those of one run, and not too many', messages);
  check('a disk gets a file system once, and pods share it', disks, whyNoDisks);
  check('a disk that is open elsewhere is refused', openDisks, whyNoDisks);
  check('a disk that its volume has left is not touched', outdatedDisk, whyNoDisks);
  check('a file system grows with its disk', growth, whyNoDisks);
  check('what was made is found again by a later life, and goes without a trace', laterLife, whyNoDisks);
  check('a host that has restarted is made as it was', restartedHost, whyNoDisks);
  check('names and paths that lead elsewhere are refused', hostileNames);
}

function file(path: string, text: string, mode = 0o644): VolumeFile {
  return { path, bytes: Buffer.from(text), mode };
}

function filesOf(...all: readonly VolumeFile[]): PodVolumeSpec {
  return { name: 'config', kind: 'files', files: all };
}

function directoryOf(name: string, medium: 'disk' | 'memory', sizeBytes?: number): PodVolumeSpec {
  return { name, kind: 'directory', medium, ...(sizeBytes !== undefined && { sizeBytes }) };
}

function diskOf(disk: DiskFile, isReadOnly = false): PodVolumeSpec {
  return { name: 'data', kind: 'volume', volumeId: 'pvc-1', disk, isReadOnly, fileSystem: 'ext4' };
}

async function files(bench: PodVolumesBench): Promise<void> {
  const { volumes, group } = bench;
  const set = filesOf(file('a', 'one'), file('deep/er/b', 'two', 0o400));
  const { hostPath } = await volumes.ensure('pod', set, signal);
  assert.deepEqual(await bench.entries(hostPath), ['a', 'deep']);
  assert.equal(await bench.read(`${hostPath}/a`), 'one');
  assert.equal(await bench.read(`${hostPath}/deep/er/b`), 'two');
  assert.equal((await bench.look(`${hostPath}/a`)).mode, 0o644);
  assert.equal((await bench.look(`${hostPath}/deep/er/b`)).mode, 0o400);
  await volumes.ensure('pod', { ...set, group }, signal);
  assert.deepEqual(await bench.look(`${hostPath}/deep/er/b`), { mode: 0o440, group });
}

async function changedFiles(bench: PodVolumesBench): Promise<void> {
  const { volumes } = bench;
  const first = filesOf(file('a', 'one'), file('b/c', 'two'));
  const { hostPath } = await volumes.ensure('pod', first, signal);
  const version = await bench.versionOf(hostPath);
  await volumes.ensure('pod', first, signal);
  assert.equal(await bench.versionOf(hostPath), version, 'nothing has changed');
  await volumes.ensure('pod', filesOf(file('a', 'one'), file('b/d', 'two')), signal);
  assert.notEqual(await bench.versionOf(hostPath), version);
  assert.deepEqual(await bench.entries(`${hostPath}/b`), ['d']);
  await volumes.ensure('pod', filesOf(file('b', 'now a file', 0o600)), signal);
  assert.deepEqual(await bench.entries(hostPath), ['b']);
  assert.equal(await bench.read(`${hostPath}/b`), 'now a file');
  await volumes.ensure('pod', filesOf(file('b', 'now a file', 0o640)), signal);
  assert.equal((await bench.look(`${hostPath}/b`)).mode, 0o640);
  await volumes.ensure('pod', filesOf(), signal);
  assert.deepEqual(await bench.entries(hostPath), []);
}

async function directories(bench: PodVolumesBench): Promise<void> {
  const { volumes, group } = bench;
  const open = await volumes.ensure('pod', directoryOf('open', 'disk'), signal);
  const given = await volumes.ensure('pod', { ...directoryOf('given', 'disk'), group }, signal);
  assert.equal((await bench.look(open.hostPath)).mode, 0o777);
  assert.deepEqual(await bench.look(given.hostPath), { mode: 0o2777, group });
  const before = await volumes.usedBytes('pod', 'open', signal);
  await bench.write(`${open.hostPath}/kept`, 'k'.repeat(mebibyte));
  const added = (await volumes.usedBytes('pod', 'open', signal)) - before;
  assert.ok(added >= mebibyte && added < 2 * mebibyte, `${added} bytes`);
  assert.deepEqual(await volumes.ensure('pod', directoryOf('open', 'disk'), signal), open);
  assert.deepEqual(await bench.entries(open.hostPath), ['kept']);
  assert.deepEqual(await volumes.list('pod', signal), [given, open]);
  await assert.rejects(volumes.usedBytes('pod', 'never', signal), refusedAs('NotFound', /make it first/));
  await volumes.ensure('other', directoryOf('open', 'disk'), signal);
  assert.deepEqual(await volumes.pods(signal), ['other', 'pod']);
  await volumes.remove('pod', signal);
  await volumes.remove('pod', signal);
  assert.deepEqual(await volumes.list('pod', signal), []);
  assert.deepEqual(await volumes.pods(signal), ['other']);
  await volumes.remove('other', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function memory(bench: PodVolumesBench): Promise<void> {
  const { group } = bench;
  const spec = { ...directoryOf('shm', 'memory', 4 * mebibyte), group };
  const { hostPath } = await bench.volumes.ensure('pod', spec, signal);
  assert.equal(await bench.capacity(hostPath), 4 * mebibyte);
  assert.deepEqual(await bench.look(hostPath), { mode: 0o2777, group });
  await bench.write(`${hostPath}/note`, 'x');
  await bench.volumes.ensure('pod', spec, signal);
  assert.deepEqual(await bench.entries(hostPath), ['note']);
  await bench.restartHost();
  assert.deepEqual(await bench.volumes.list('pod', signal), [], 'it is not there before it is made again');
  await bench.volumes.ensure('pod', spec, signal);
  assert.deepEqual(await bench.entries(hostPath), []);
  await bench.volumes.remove('pod', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function hostPaths(bench: PodVolumesBench): Promise<void> {
  const { volumes } = bench;
  const at = (name: string, type: Extract<PodVolumeSpec, { kind: 'host' }>['type']) =>
    volumes.ensure(
      'pod',
      { name: name.replaceAll('/', '-'), kind: 'host', path: bench.hostPath(name), type },
      signal,
    );
  const failed = (words: string): RegExp => new RegExp(`^hostPath type check failed: /.* is not ${words}: `);
  await assert.rejects(at('made', 'Directory'), refusedAs('NotFound', failed('a directory')));
  await assert.rejects(at('file', 'File'), refusedAs('NotFound', failed('a file')));
  const made = await at('made/deep', 'DirectoryOrCreate');
  assert.deepEqual(made, { name: 'made-deep', hostPath: bench.hostPath('made/deep') });
  assert.equal((await at('made', 'Directory')).hostPath, bench.hostPath('made'));
  await at('file', 'FileOrCreate');
  await at('any', '');
  assert.equal(await bench.read(bench.hostPath('file')), '');
  await at('file', 'File');
  await assert.rejects(at('file', 'DirectoryOrCreate'), refusedAs('BadRequest', failed('a directory')));
  await assert.rejects(at('made', 'FileOrCreate'), refusedAs('BadRequest', failed('a file')));
  await assert.rejects(at('file', 'Socket'), refusedAs('BadRequest', failed('a socket file')));
  await assert.rejects(at('file', 'CharDevice'), refusedAs('BadRequest', failed('a character device')));
  await assert.rejects(at('file', 'BlockDevice'), refusedAs('BadRequest', failed('a block device')));
  await bench.write(`${made.hostPath}/precious`, 'kept');
  await volumes.remove('pod', signal);
  assert.equal(await bench.read(`${made.hostPath}/precious`), 'kept', 'what is the host’s stays');
  assert.deepEqual(await bench.traces(), []);
}

async function messages(bench: PodVolumesBench): Promise<void> {
  const { volumes } = bench;
  assert.equal(await volumes.readMessage('pod', 'run_0', signal), '');
  const path = await volumes.ensureMessageFile('pod', 'run_0', signal);
  assert.equal((await bench.look(path)).mode, 0o666);
  await bench.write(path, 'bye');
  assert.equal(await volumes.readMessage('pod', 'run_0', signal), 'bye');
  const other = await volumes.ensureMessageFile('pod', 'run_1', signal);
  assert.equal(await volumes.readMessage('pod', 'run_1', signal), '');
  await bench.write(other, `${'ä'.repeat(3000)}!`);
  assert.equal(await volumes.readMessage('pod', 'run_1', signal), `${'ä'.repeat(2047)}!`);
  assert.equal(await volumes.ensureMessageFile('pod', 'run_0', signal), path);
  assert.equal(await volumes.readMessage('pod', 'run_0', signal), '');
  await volumes.remove('pod', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function disks(bench: PodVolumesBench): Promise<void> {
  const { volumes, group } = bench;
  const disk = await bench.makeDisk(16 * mebibyte);
  const mine = await volumes.ensure('pod', { ...diskOf(disk), group }, signal);
  assert.deepEqual(await bench.look(mine.hostPath), { mode: 0o2775, group });
  await bench.write(`${mine.hostPath}/shared`, 'by all');
  const theirs = await volumes.ensure('other', diskOf(disk, true), signal);
  assert.equal(await bench.read(`${theirs.hostPath}/shared`), 'by all');
  await assert.rejects(bench.write(`${theirs.hostPath}/new`, 'x'), /read-only/i);
  await volumes.remove('pod', signal);
  assert.equal(await bench.read(`${theirs.hostPath}/shared`), 'by all');
  await volumes.remove('other', signal);
  assert.deepEqual(await bench.traces(), []);
  const again = await volumes.ensure('third', diskOf(disk), signal);
  assert.equal(await bench.read(`${again.hostPath}/shared`), 'by all');
  await volumes.ensure('fourth', diskOf(disk), signal);
  await Promise.all([volumes.remove('third', signal), volumes.remove('fourth', signal)]);
  assert.deepEqual(await bench.traces(), []);
}

async function openDisks(bench: PodVolumesBench): Promise<void> {
  const { volumes } = bench;
  const disk = await bench.makeDisk(16 * mebibyte);
  const close = await bench.openDisk(disk);
  await assert.rejects(
    volumes.ensure('pod', diskOf(disk), signal),
    refusedAs('Conflict', /stop the virtual machine/),
  );
  assert.deepEqual(await volumes.list('pod', signal), []);
  await close();
  const { hostPath } = await volumes.ensure('pod', diskOf(disk), signal);
  await bench.write(`${hostPath}/a`, 'x');
  await volumes.remove('pod', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function outdatedDisk(bench: PodVolumesBench): Promise<void> {
  const { volumes } = bench;
  const [old, next] = [await bench.makeDisk(16 * mebibyte), await bench.makeDisk(16 * mebibyte)];
  bench.outdate(old);
  const words = /volume pvc-1 has gone on in another file .*try again/;
  for (let time = 0; time < 2; time++)
    await assert.rejects(volumes.ensure('pod', diskOf(old), signal), refusedAs('Conflict', words));
  assert.deepEqual(await volumes.list('pod', signal), []);
  const close = await bench.openDisk(old);
  await close();
  const { hostPath } = await volumes.ensure('pod', diskOf(next), signal);
  await bench.write(`${hostPath}/a`, 'x');
  bench.outdate(next);
  await volumes.ensure('pod', diskOf(next), signal);
  assert.equal(await bench.read(`${hostPath}/a`), 'x', 'what is mounted goes on');
  await volumes.remove('pod', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function growth(bench: PodVolumesBench): Promise<void> {
  const { volumes } = bench;
  const disk = await bench.makeDisk(16 * mebibyte);
  const { hostPath } = await volumes.ensure('pod', diskOf(disk), signal);
  const before = await bench.capacity(hostPath);
  await bench.write(`${hostPath}/a`, 'kept');
  await volumes.remove('pod', signal);
  await bench.growDisk(disk, 48 * mebibyte);
  await volumes.ensure('pod', diskOf(disk), signal);
  assert.ok((await bench.capacity(hostPath)) >= before + 24 * mebibyte);
  assert.equal(await bench.read(`${hostPath}/a`), 'kept');
  await volumes.remove('pod', signal);
}

async function laterLife(bench: PodVolumesBench): Promise<void> {
  const disk = await bench.makeDisk(16 * mebibyte);
  const specs = [diskOf(disk), directoryOf('shm', 'memory', mebibyte), filesOf(file('a', 'one'))];
  const made = [];
  for (const spec of specs) made.push(await bench.volumes.ensure('pod', spec, signal));
  const [data, shm] = made;
  await bench.write(`${data?.hostPath}/a`, 'kept');
  await bench.write(`${shm?.hostPath}/b`, 'kept');
  const before = await bench.traces();
  await bench.restart();
  const { volumes } = bench;
  assert.deepEqual(
    (await volumes.list('pod', signal)).map(({ name }) => name),
    ['config', 'data', 'shm'],
  );
  for (const [index, spec] of specs.entries())
    assert.deepEqual(await volumes.ensure('pod', spec, signal), made[index]);
  assert.deepEqual(await bench.traces(), before, 'the same mounts, devices and processes');
  assert.equal(await bench.read(`${data?.hostPath}/a`), 'kept');
  assert.equal(await bench.read(`${shm?.hostPath}/b`), 'kept');
  await bench.restart();
  await bench.volumes.remove('pod', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function restartedHost(bench: PodVolumesBench): Promise<void> {
  const disk = await bench.makeDisk(16 * mebibyte);
  const { hostPath } = await bench.volumes.ensure('pod', diskOf(disk), signal);
  await bench.write(`${hostPath}/a`, 'kept');
  await bench.restartHost();
  assert.deepEqual(await bench.volumes.list('pod', signal), []);
  await bench.volumes.ensure('pod', diskOf(disk), signal);
  assert.equal(await bench.read(`${hostPath}/a`), 'kept');
  await bench.restartHost();
  await bench.volumes.remove('pod', signal);
  assert.deepEqual(await bench.traces(), []);
}

async function hostileNames(bench: PodVolumesBench): Promise<void> {
  const { volumes } = bench;
  for (const name of ['..', 'a/b', '', '.hidden', 'x'.repeat(300)]) {
    const bad = refusedAs('BadRequest', /cannot be the name/);
    await assert.rejects(volumes.ensure('pod', directoryOf(name, 'disk'), signal), bad);
    await assert.rejects(volumes.ensure(name, directoryOf('a', 'disk'), signal), bad);
    await assert.rejects(volumes.ensureMessageFile('pod', name, signal), bad);
    await assert.rejects(volumes.remove(name, signal), bad);
  }
  for (const path of ['..', '../a', 'a/../b', '/a', 'a//b', '', '..data', './a'])
    await assert.rejects(
      volumes.ensure('pod', filesOf(file(path, 'x')), signal),
      refusedAs('BadRequest', /cannot be a path/),
    );
  for (const path of ['relative', '/a/../b'])
    await assert.rejects(
      volumes.ensure('pod', { name: 'host', kind: 'host', path, type: '' }, signal),
      refusedAs('BadRequest', /absolute/),
    );
}
