import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EngineCatalog } from './engine-catalog.ts';
import { containerObservation } from './engine-containers.ts';
import { engineLabels } from './engine-names.ts';
import { RunRecords } from './run-records.ts';

const name = 'container-one';

/** How podman tells a container that SIGKILL has ended. */
const listed = {
  Id: 'a'.repeat(64),
  ImageID: 'b'.repeat(64),
  State: 'exited',
  Pid: 0,
  Created: '2026-01-01T00:00:00Z',
  Labels: engineLabels({
    role: 'container',
    id: 'one',
    sandboxId: 'pod',
    title: 'default/pod/one',
    labels: {},
  }),
};
const detail = {
  Id: listed.Id,
  Image: listed.ImageID,
  Created: listed.Created,
  State: {
    Status: listed.State,
    Pid: listed.Pid,
    StartedAt: '2026-01-01T00:00:01Z',
    FinishedAt: '2026-01-01T00:00:02Z',
    ExitCode: 137,
    OOMKilled: false,
  },
  Config: { Labels: listed.Labels, StopSignal: 15, OpenStdin: false, Tty: false },
};

async function withRecords(use: (records: RunRecords, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'records-'));
  try {
    await use(new RunRecords(directory), directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function catalog(records: RunRecords, hasRunOutOfMemory: boolean, bootId = 'boot'): EngineCatalog {
  return new EngineCatalog({
    call: ({ path }) => Promise.resolve(path.startsWith('/containers/json') ? [listed] : detail),
    records,
    bootId,
    hasRunOutOfMemory: () => hasRunOutOfMemory,
    endUnwatched: () => Promise.reject(new Error('it has ended')),
  });
}

describe('the catalog of the engine', () => {
  it('tells of a want of memory also when the kernel has forgotten it, in later boots too', () =>
    withRecords(async (records) => {
      await records.write(name, { bootId: 'boot' });
      const seen = [
        await catalog(records, true).find('container', 'one'),
        await catalog(records, false).find('container', 'one'),
        await catalog(records, false, 'next').find('container', 'one'),
      ];
      assert.deepEqual(
        seen.map((found) => found && containerObservation(found).end),
        Array.from({ length: 3 }, () => ({ cause: 'out-of-memory', exitCode: 137 })),
      );
    }));

  it('notes nothing of a container that is removed meanwhile', () =>
    withRecords(async (records, directory) => {
      await records.write(name, { bootId: 'boot' });
      const found = catalog(records, true);
      await Promise.all([found.all(), records.remove(name), found.all()]);
      assert.deepEqual(await readdir(directory), []);
    }));
});
