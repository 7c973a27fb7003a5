import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { after, describe, it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Hypervisor, MachineObservation, MachineSpec } from '@sheaf/ports';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';

type Control = ChildProcessByStdio<Writable, Readable, null>;

const program = fileURLToPath(new URL('./control-process.fixture.ts', import.meta.url));
const { signal } = new AbortController();
const patienceMs = 20_000;

function specOf(id: string, world: QemuWorld, changes: Partial<MachineSpec> = {}): MachineSpec {
  return {
    id,
    title: `default/${id}`,
    machineType: 'q35',
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { bytes: 4 * 1024 * 1024 },
    firmware: world.guest,
    identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' },
    disks: [],
    nics: [],
    hasGraphics: false,
    hasSerialConsole: true,
    hasAgentChannel: false,
    hasRandomSource: false,
    hasBalloon: false,
    ...changes,
  };
}

async function control(world: QemuWorld, specs: readonly MachineSpec[]): Promise<Control> {
  const directory = await mkdtemp(join(tmpdir(), 'specs-'));
  after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'specs.json');
  await writeFile(path, JSON.stringify(specs));
  return spawn(process.execPath, [program, world.directory, path], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function killed(child: Control): Promise<void> {
  const exit = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  child.kill('SIGKILL');
  await exit;
}

/** The lines up to one that matches. */
async function linesUntil(child: Control, wanted: RegExp): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (wanted.test(line)) return lines;
  }
  return assert.fail(`the process ended after ${JSON.stringify(lines)}`);
}

async function when(
  hypervisor: Hypervisor,
  id: string,
  claim: (seen: MachineObservation) => boolean,
): Promise<MachineObservation> {
  for (let waited = 0; waited < patienceMs; waited += 20) {
    const seen = await hypervisor.find(id, signal);
    if (seen && claim(seen)) return seen;
    await pass(20);
  }
  return assert.fail(`this did not become true of ${id}: ${claim.toString()}`);
}

async function statusOf(hypervisor: Hypervisor, id: string): Promise<{ boots: number; ticks: number }> {
  const console = await hypervisor.openSerial(id, signal);
  try {
    await console.write(Buffer.from('?'));
    let printed = '';
    for await (const bytes of console.readable) {
      printed += Buffer.from(bytes).toString();
      const [, boots, ticks] = /boots (\d+) ticks (\d+)\n/.exec(printed) ?? [];
      if (ticks !== undefined) return { boots: Number(boots), ticks: Number(ticks) };
    }
    return assert.fail(`the console ended after ${JSON.stringify(printed)}`);
  } finally {
    console.dispose();
  }
}

describe('QEMU and the death of the control process', { skip: qemuIsMissing ?? false }, () => {
  async function withWorld(use: (world: QemuWorld) => Promise<void>): Promise<void> {
    const world = await QemuWorld.make();
    try {
      await use(world);
    } finally {
      await world.dispose();
    }
  }

  it('machines run on, and are adopted with their uptime', () =>
    withWorld(async (world) => {
      const ids = ['one', 'two', 'three'];
      const child = await control(
        world,
        ids.map((id) => specOf(id, world)),
      );
      const lines = await linesUntil(child, /^done/);
      await killed(child);
      const hypervisor = world.open();
      const seen = await hypervisor.list(signal);
      assert.deepEqual(
        seen.map(({ id, state, processId }) => `${state} ${id} ${processId}`).toSorted(),
        lines.filter((line) => line.startsWith('running')).toSorted(),
      );
      const before = await statusOf(hypervisor, 'one');
      assert.equal(before.boots, 1);
      hypervisor.dispose();
      const again = world.open();
      await again.list(signal);
      const later = await statusOf(again, 'one');
      assert.equal(later.boots, 1);
      assert.ok(later.ticks >= before.ticks);
    }));

  it('a start that is cut off at any moment leaves one process or none, and is gone on with', () =>
    withWorld(async (world) => {
      // From before the launch to after the first answer.
      for (const [index, delayMs] of [0, 60, 90, 110, 130, 150, 170, 190, 220].entries()) {
        const id = `cut-${index}`;
        const child = await control(world, [specOf(id, world)]);
        await linesUntil(child, /^opened/);
        await pass(delayMs);
        await killed(child);
        const hypervisor = world.open();
        const [seen] = (await hypervisor.list(signal)).filter((machine) => machine.id === id);
        if (seen !== undefined) assert.notEqual(seen.state, 'ended', JSON.stringify(seen));
        const started = await hypervisor.start(specOf(id, world), signal);
        assert.ok(['paused', 'running'].includes(started.state), JSON.stringify(started));
        assert.equal(world.processes(id).length, 1);
        await hypervisor.end(id, signal);
        await hypervisor.forget(id, signal);
        assert.deepEqual(await world.traces(), []);
        hypervisor.dispose();
      }
    }));

  it('a machine that was launched and does not listen yet is still starting', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'emulator-'));
    const emulator = join(directory, 'slow-emulator');
    const release = join(directory, 'release');
    const script = `#!/bin/sh
if [ "$1" = -name ]; then while [ ! -e ${release} ]; do sleep 0.02; done; fi
exec qemu-system-x86_64 "$@"
`;
    await writeFile(emulator, script, { mode: 0o755 });
    const world = await QemuWorld.make({ emulator });
    try {
      const first = world.open();
      const cutOff = assert.rejects(first.start(specOf('one', world), signal), /let go/);
      while (world.processes('one').length === 0) await pass(5);
      first.dispose();
      const next = world.open();
      while ((await next.list(signal)).length === 0) await pass(5);
      const [seen] = await next.list(signal);
      assert.equal(seen?.state, 'starting');
      // Also when it has been asked in vain for some time.
      await pass(500);
      assert.equal((await next.find('one', signal))?.state, 'starting');
      const started = next.start(specOf('one', world), signal);
      await writeFile(release, '');
      assert.equal((await started).state, 'paused');
      assert.equal((await next.find('one', signal))?.state, 'paused');
      await cutOff;
    } finally {
      await world.dispose();
      await rm(directory, { recursive: true });
    }
  });

  it('two control processes at once make one process for each id', () =>
    withWorld(async (world) => {
      const specs = ['one', 'two'].map((id) => specOf(id, world));
      const children = await Promise.all([control(world, specs), control(world, specs)]);
      const lines = (await Promise.all(children.map((child) => linesUntil(child, /^done/)))).flat();
      // Whoever comes second cannot command the machine.
      for (const { id } of specs)
        assert.equal(lines.filter((line) => line.startsWith(`running ${id} `)).length, 1, lines.join('\n'));
      for (const { id } of specs) assert.equal(world.processes(id).length, 1);
      for (const child of children) await killed(child);
      const hypervisor = world.open();
      for (const { id } of specs) {
        await when(hypervisor, id, ({ state }) => state === 'running');
        assert.equal(world.processes(id).length, 1);
      }
    }));

  it('a machine that was being removed is gone after the next start', () =>
    withWorld(async (world) => {
      const hypervisor = world.open();
      await hypervisor.start(specOf('one', world), signal);
      await hypervisor.end('one', signal);
      await hypervisor.forget('one', signal);
      await writeFile(join(world.directory, 'removed', 'left'), '');
      hypervisor.dispose();
      const again = world.open();
      assert.deepEqual(await again.list(signal), []);
      assert.deepEqual(await world.traces(), []);
    }));
});
