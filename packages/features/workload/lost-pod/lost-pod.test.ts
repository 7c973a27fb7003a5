import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resources } from '@sheaf/client';
import { WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { register } from './register.ts';

it('pods of a deleted node go after a while; those of this host and of a node that is there stay', () =>
  WorkloadWorld.run(
    (manager) => register(manager, { nodeName: 'here' }),
    async (world) => {
      world.fate = waits;
      const { client, clock } = world;
      for (const name of ['old', 'other']) await client.create(resources.nodes, { metadata: { name } });
      for (const nodeName of ['old', 'other', 'here'])
        await client.create(resources.pods, {
          metadata: { namespace: 'default', name: `on-${nodeName}`, finalizers: ['test.io/look'] },
          spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
        });
      const find = async (name: string) =>
        await client.find(resources.pods, { namespace: 'default', name: `on-${name}` });
      await client.delete(resources.nodes, { name: 'old' });
      const before = clock.monotonic();
      await world.until(async () => (await find('old'))?.metadata.deletionTimestamp !== undefined);
      assert.ok(clock.monotonic() - before >= 40_000);
      const { status } = (await find('old')) ?? {};
      assert.deepEqual(
        [status?.phase, status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason],
        ['Failed', 'DeletionByPodGC'],
      );
      for (const name of ['here', 'other'])
        assert.equal((await find(name))?.metadata.deletionTimestamp, undefined);
    },
  ));
