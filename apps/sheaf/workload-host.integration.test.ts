import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { openWorkloadHost, type WorkloadHost } from './workload-host.ts';

async function withHost(
  hasContainers: boolean,
  use: (host: WorkloadHost, directory: string) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sheaf-workloads-'));
  const surroundings = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const host = openWorkloadHost({
    mayWrite: () => Promise.resolve(true),
    ...surroundings,
    dataDir,
    hasContainers,
  });
  try {
    await use(host, dataDir);
  } finally {
    host.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const signal = new AbortController().signal;

it('a host that nobody has run a pod on is looked at, and nothing is made on it', () =>
  withHost(true, async (host, directory) => {
    const { isAvailable, reason, wayOut } = await host.capability();
    // Where the programs are not there, it says how to have them.
    assert.ok(isAvailable ? reason.includes('podman') : wayOut !== undefined, reason);
    assert.deepEqual(await host.containers.listSandboxes(signal), []);
    assert.deepEqual(await host.containers.listContainers(signal), []);
    assert.equal(await host.countRunning(), 0);
    assert.equal(host.nodeContainers().areWanted, true);
    assert.deepEqual(await readdir(directory), []);
  }));

it('a host without containers refuses them with the way out, and makes nothing', () =>
  withHost(false, async (host, directory) => {
    const wayOut = 'start it without --without-containers';
    assert.deepEqual(await host.capability(), {
      isAvailable: false,
      reason: 'this Sheaf was started without containers',
      wayOut,
    });
    assert.equal(host.nodeContainers().areWanted, false);
    await assert.rejects(host.images.list(signal), {
      reason: 'ServiceUnavailable',
      message: /was started without containers; start it without --without-containers$/,
    });
    assert.ok(!(await readdir(directory)).includes('pods'));
  }));
