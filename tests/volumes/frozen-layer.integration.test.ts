import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { DiskFile, Hypervisor, Volumes } from '@sheaf/ports';
import { blankOrder, fileOf, make, refusedAs } from '@sheaf/ports/disk-bench.fixture';
import {
  type LocalBench,
  whySkipped,
  withLocalDisk,
} from '../../packages/drivers/local-disk/local-disk.fixture.ts';
import { signal, specOf, withQemu } from './real-machine.ts';

/** Real machines, which ask the driver of real volumes. */
function withBoth(
  context: TestContext,
  use: (hypervisor: Hypervisor, bench: LocalBench) => Promise<void>,
): Promise<void> {
  return withLocalDisk(async (bench) => {
    const { volumes }: { readonly volumes: Volumes } = bench;
    await withQemu(
      context,
      ({ hypervisor }) => use(hypervisor, bench),
      (path) => volumes.mayWrite(path, signal),
    );
  });
}

async function run(hypervisor: Hypervisor, id: string, file: DiskFile): Promise<void> {
  await open(hypervisor, id, file);
  await hypervisor.resume(id, signal);
}

async function open(hypervisor: Hypervisor, id: string, file: DiskFile): Promise<void> {
  const { state, end } = await hypervisor.start(specOf(id, [file]), signal);
  assert.deepEqual({ state, end }, { state: 'paused', end: undefined });
}

async function isRefused(hypervisor: Hypervisor, id: string): Promise<void> {
  await assert.rejects(hypervisor.resume(id, signal), refusedAs('Conflict', /another file .*start it again/));
  const { state, end } = (await hypervisor.find(id, signal)) ?? {};
  assert.deepEqual([state, end?.cause], ['ended', 'start-failed']);
}

function hashOf({ path }: DiskFile): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

describe('a file that was looked up', { skip: whySkipped, timeout: 180_000 }, () => {
  it('and frozen since is not written to', (context: TestContext) =>
    withBoth(context, async (hypervisor, bench) => {
      await make(bench, blankOrder('v'));
      const file = await fileOf(bench, 'v');
      await run(hypervisor, 'a', file);
      const order = { id: 's', volumeId: 'v', isAttached: true };
      const { overlay = assert.fail('no overlay') } = await bench.volumes.snapshot(order, signal);
      await hypervisor.switchDisks('a', [{ name: 'disk-0', overlay }], signal);
      await bench.volumes.snapshot({ ...order, isSwitched: true }, signal);
      await hypervisor.end('a', signal);
      const kept = hashOf(file);
      await open(hypervisor, 'b', file);
      await isRefused(hypervisor, 'b');
      assert.equal(hashOf(file), kept);
      await run(hypervisor, 'c', await fileOf(bench, 'v'));
    }));

  it('and whose snapshot nobody has told of is written to, and what was prepared for it is void', (context: TestContext) =>
    withBoth(context, async (hypervisor, bench) => {
      await make(bench, blankOrder('v'));
      const file = await fileOf(bench, 'v');
      await run(hypervisor, 'a', file);
      const order = { id: 's', volumeId: 'v', isAttached: true };
      const { overlay = assert.fail('no overlay') } = await bench.volumes.snapshot(order, signal);
      await hypervisor.switchDisks('a', [{ name: 'disk-0', overlay }], signal);
      await hypervisor.end('a', signal);
      await run(hypervisor, 'b', file);
      const tell = () => bench.volumes.snapshot({ ...order, isSwitched: true }, signal);
      await assert.rejects(tell, refusedAs('NotFound', /s has not been prepared; ask for it first/));
      assert.deepEqual(await fileOf(bench, 'v'), file);
      assert.deepEqual(await bench.volumes.snapshot(order, signal), { overlay });
      await hypervisor.switchDisks('b', [{ name: 'disk-0', overlay }], signal);
      await tell();
      assert.deepEqual(await fileOf(bench, 'v'), overlay);
    }));

  it('and replaced under its name since is not written to', (context: TestContext) =>
    withBoth(context, async (hypervisor, bench) => {
      for (const id of ['v', 'other']) await make(bench, blankOrder(id));
      const file = await fileOf(bench, 'v');
      await open(hypervisor, 'a', file);
      renameSync((await fileOf(bench, 'other')).path, file.path);
      await isRefused(hypervisor, 'a');
      await run(hypervisor, 'b', file);
      await hypervisor.end('b', signal);
    }));
});
