import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { MachineSpec } from '@sheaf/ports';
import { probeAccelerator, probeArguments } from './accelerator-probe.ts';
import { acceleratorProbeImage } from './firmware/accelerator-probe.gen.ts';
import { currentBootId, isAlive, parseIdentity } from './process-identity.ts';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';
import { objectAt, objectsIn, QmpClient } from './qmp-client.ts';
import { runProgram } from './run-program.ts';
import { SerialLog } from './serial-log.ts';

const root = await mkdtemp(join(tmpdir(), 'qemu-host-'));
after(() => rm(root, { recursive: true }));
const { signal } = new AbortController();

function specOf(world: QemuWorld, changes: Partial<MachineSpec>): MachineSpec {
  return {
    id: 'one',
    title: 'default/one',
    machineType: 'q35',
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { bytes: 16 * 1024 * 1024 },
    firmware: world.guest,
    identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' },
    disks: [],
    nics: [],
    hasGraphics: false,
    hasSerialConsole: true,
    hasAgentChannel: true,
    hasRandomSource: true,
    hasBalloon: true,
    ...changes,
  };
}

const firmwareIsMissing = existsSync('/usr/share/OVMF/OVMF_CODE_4M.fd')
  ? false
  : 'there is no EFI firmware: apt-get install ovmf';

async function withWorld(
  use: (world: QemuWorld) => Promise<void>,
  options: Parameters<typeof QemuWorld.make>[0] = {},
): Promise<void> {
  const world = await QemuWorld.make(options);
  try {
    await use(world);
  } finally {
    await world.dispose();
  }
}

describe('the identity of a process', () => {
  const bootId = currentBootId();

  it('is not fooled by another process with the number, nor by another boot', async () => {
    const text = await readFile(`/proc/${process.pid}/stat`, 'utf8');
    const startTime = text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    const own = { pid: process.pid, startTime, bootId };
    assert.deepEqual(parseIdentity(`${process.pid} ${startTime} ${bootId}\n`), own);
    assert.equal(parseIdentity(''), undefined);
    assert.equal(parseIdentity(`${process.pid} `), undefined);
    assert.equal(isAlive(own, bootId), true);
    assert.equal(isAlive({ ...own, startTime: '1' }, bootId), false);
    assert.equal(isAlive(own, 'another boot'), false);
    assert.equal(isAlive({ ...own, pid: 2 ** 22 + 1 }, bootId), false);
  });

  it('counts a zombie as dead', async () => {
    // The shell becomes a program that never asks for its child.
    const child = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const pid = Number(await new Promise((resolve) => child.stdout.once('data', resolve)));
      const nameOf = (): Promise<string> => readFile(`/proc/${child.pid}/comm`, 'utf8');
      while ((await nameOf()).trim() !== 'sleep') await new Promise((resolve) => setImmediate(resolve));
      process.kill(pid, 'SIGKILL');
      const readStat = (): Promise<string> => readFile(`/proc/${pid}/stat`, 'utf8');
      let fields: string[] = [];
      while (fields[0] !== 'Z') fields = (await readStat()).split(') ')[1]?.split(' ') ?? [];
      assert.equal(isAlive({ pid, startTime: fields[19] ?? '', bootId }, bootId), false);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('the log of a serial console', () => {
  it('is put aside in parts, and read across them', async () => {
    const path = join(root, 'serial.log');
    const log = new SerialLog({ path, sizeBytes: 10, count: 2 });
    await log.rotate();
    assert.equal(Buffer.from(await log.tail(100)).toString(), '');
    for (const words of ['first part ', 'second part ', 'third part ', 'rest']) {
      await appendFile(path, words);
      await Promise.all([log.rotate(), log.rotate()]);
    }
    assert.equal(Buffer.from(await log.tail(100)).toString(), 'second part third part rest');
    assert.equal(Buffer.from(await log.tail(8)).toString(), 'art rest');
    assert.deepEqual((await readdir(root)).filter((name) => name.startsWith('serial')).toSorted(), [
      'serial.log',
      'serial.log.1',
      'serial.log.2',
    ]);
  });
});

describe('QEMU on this host', { skip: qemuIsMissing ?? false }, () => {
  it('passes the test of the accelerator where a guest runs', async () => {
    const image = join(root, 'probe.bin');
    await writeFile(image, acceleratorProbeImage());
    const { status, output } = await runProgram('qemu-system-x86_64', probeArguments('tcg', image));
    assert.deepEqual({ status, output }, { status: 67, output: 'RPLWI!' });
  });

  it('takes the accelerator that is configured, and says why in any case', async () => {
    const probe = { directory: root, program: 'qemu-system-x86_64', version: '1', bootId: 'boot' };
    assert.deepEqual(await probeAccelerator({ ...probe, wanted: 'kvm' }, true), {
      kind: 'kvm',
      reason: 'kvm is configured',
    });
    const found = await probeAccelerator({ ...probe, wanted: 'auto' }, true);
    assert.ok(found.reason.length > 0);
    assert.deepEqual(await probeAccelerator({ ...probe, wanted: 'auto' }, false), found);
  });

  it('says what is missing where it is not installed', () =>
    withWorld(
      async (world) => {
        const hypervisor = world.open();
        const { hypervisor: capability, efi } = await hypervisor.probe(signal);
        assert.deepEqual(capability, {
          isAvailable: false,
          reason: 'qemu-system-x86_64 is not installed',
          wayOut: 'apt-get install qemu-system-x86',
        });
        assert.equal(efi.isAvailable, false);
        await assert.rejects(hypervisor.start(specOf(world, {}), signal), /apt-get install qemu-system-x86/);
        assert.deepEqual(await world.traces(), []);
      },
      { emulator: 'qemu-that-is-not-there' },
    ));

  for (const changes of [
    { machineType: 'q35', hasTablet: true, watchdog: { model: 'i6300esb', action: 'reset' }, tpm: {} },
    { machineType: 'pc', hasGraphics: true, clock: 'Europe/Berlin' },
    { machineType: 'microvm' },
    { machineType: 'q35', firmware: { kind: 'efi', isSecureBoot: true } },
    {
      machineType: 'q35',
      firmware: { kind: 'bios' },
      cpu: { sockets: 2, cores: 2, threads: 2, model: 'Haswell' },
    },
  ] satisfies Partial<MachineSpec>[])
    it(`starts a machine with ${JSON.stringify(changes)}`, () =>
      withWorld(async (world) => {
        const hypervisor = world.open();
        const disks = [];
        for (const [index, bus] of (['virtio', 'scsi', ...sataOf(changes.machineType)] as const).entries())
          disks.push({
            name: `disk-${index}`,
            device: 'disk',
            bus,
            file: await world.makeDisk(`disk-${index}`),
          } as const);
        const seen = await hypervisor.start(specOf(world, { ...changes, disks }), signal);
        assert.deepEqual([seen.state, seen.end], ['paused', undefined]);
        await hypervisor.resume('one', signal);
        assert.equal((await hypervisor.find('one', signal))?.state, 'running');
      }));

  it('keeps what the firmware writes into its variables', { skip: firmwareIsMissing }, () =>
    withWorld(async (world) => {
      const hypervisor = world.open();
      const persistentKey = 'claim-1';
      const firmware = { kind: 'efi', isSecureBoot: false, persistentKey } as const;
      const memory = { bytes: 128 * 1024 * 1024 };
      const path = join(world.directory, 'persistent', persistentKey, 'efi-variables.fd');
      await hypervisor.start(specOf(world, { firmware, memory }), signal);
      const fresh = await readFile(path);
      await hypervisor.resume('one', signal);
      while ((await readFile(path)).equals(fresh)) await world.pass(50);
      await hypervisor.end('one', signal);
      await hypervisor.forget('one', signal);
      const written = await readFile(path);
      assert.equal(written.equals(fresh), false);
      await hypervisor.start(specOf(world, { id: 'two', firmware, memory }), signal);
      assert.ok((await readFile(path)).equals(written));
    }),
  );

  it('keeps the log of a guest that prints without end within bounds', () =>
    withWorld(async (world) => {
      const hypervisor = world.open();
      await hypervisor.start(specOf(world, {}), signal);
      const console = await hypervisor.openSerial('one', signal);
      await hypervisor.resume('one', signal);
      let printed = 0;
      const pages = 12;
      for await (const bytes of console.readable) {
        // What is typed before the guest is ready is lost on it.
        if (printed === 0) await console.write(Buffer.from('L'.repeat(pages)));
        printed += bytes.length;
        if (printed > pages * 65_536) break;
      }
      const directory = join(world.directory, 'machines', 'one');
      const logs = (await readdir(directory)).filter((name) => name.startsWith('serial.log'));
      const sizes = await Promise.all(logs.map(async (name) => (await stat(join(directory, name))).size));
      assert.ok(logs.length > 2, `${logs.length} parts`);
      for (const size of sizes) assert.ok(size < 3 * 128 * 1024, `a part has ${size} bytes`);
      const tail = await hypervisor.readSerialLog('one', { tailBytes: 200_000 }, signal);
      assert.equal(tail.length, 200_000);
    }));

  it('runs in a directory with a long path', () =>
    withWorld(async (world) => {
      const hypervisor = world.open();
      const id = 'a'.repeat(120);
      assert.equal(
        (await hypervisor.start(specOf(world, { id, hasGraphics: true }), signal)).state,
        'paused',
      );
      (await hypervisor.openSerial(id, signal)).dispose();
      (await hypervisor.openScreen(id, signal)).dispose();
      await hypervisor.end(id, signal);
    }));

  it('lets a person look at a machine beside the driver, and see its limits', () =>
    withWorld(async (world) => {
      const hypervisor = world.open();
      const limits = { bytesPerSecond: 1_000_000, operationsPerSecond: 50 };
      const disks = [];
      for (const bus of ['virtio', 'scsi'] as const)
        disks.push({ name: bus, device: 'disk', bus, file: await world.makeDisk(bus), limits } as const);
      await hypervisor.start(specOf(world, { disks }), signal);
      const { clock } = world.options();
      const debug = await QmpClient.connect({
        path: join(world.directory, 'machines', 'one', 'debug.sock'),
        clock,
        limitMs: 2000,
        onEvent: () => undefined,
        onClose: () => undefined,
      });
      assert.deepEqual(await debug.execute('query-uuid'), { UUID: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' });
      const drives = objectsIn(await debug.execute('query-block')).map((drive) =>
        objectAt(drive, 'inserted'),
      );
      assert.deepEqual(
        drives.map(({ bps, iops }) => [bps, iops]),
        disks.map(() => [limits.bytesPerSecond, limits.operationsPerSecond]),
      );
      debug.dispose();
    }));
});

/** A microvm has no such bus. */
function sataOf(machineType: MachineSpec['machineType']): readonly 'sata'[] {
  return machineType === 'microvm' ? [] : ['sata'];
}
