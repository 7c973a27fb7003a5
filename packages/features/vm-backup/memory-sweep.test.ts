import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Client } from '@sheaf/client';
import type { MachineObservation, MemoryObservation } from '@sheaf/ports';
import { sweepMemories } from './memory-sweep.ts';

const { signal } = new AbortController();
const memory = (id: string, state: MemoryObservation['state']): MemoryObservation => ({
  id,
  title: id,
  state,
  path: `/${id}`,
  allocatedBytes: 1,
});

async function sweep(machine: Partial<MachineObservation>): Promise<{ isClean: boolean; removed: string[] }> {
  const removed: string[] = [];
  const backups = [
    { metadata: { uid: 'wanted', annotations: { 'sheaf.dev/memory': 'true' } } },
    { metadata: { uid: 'plain' } },
  ];
  const isClean = await sweepMemories(
    {
      client: { list: () => Promise.resolve({ items: backups }) } as unknown as Client,
      hypervisor: { list: () => Promise.resolve([machine as MachineObservation]) },
      memories: {
        list: () =>
          Promise.resolve([
            memory('wanted', 'prepared'),
            memory('plain', 'kept'),
            memory('gone', 'prepared'),
          ]),
        remove: (id) => Promise.resolve(void removed.push(id)),
      },
    },
    signal,
  );
  return { isClean, removed };
}

it('memory that no snapshot accounts for is removed, as soon as nobody can write to it', async () => {
  assert.deepEqual(await sweep({}), { isClean: true, removed: ['plain', 'gone'] });
  assert.deepEqual(await sweep({ isMemoryBeingKept: true }), { isClean: false, removed: ['plain'] });
});
