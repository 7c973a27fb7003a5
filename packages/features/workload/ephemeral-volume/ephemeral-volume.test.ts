import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { register } from './register.ts';

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } };
const template = { metadata: { labels: { a: 'b' } }, spec };

async function addPod({ client }: WorkloadWorld, name: string): Promise<Pod> {
  return await client.create(resources.pods, {
    metadata: { namespace: 'default', name },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: template } }],
    },
  });
}

it('a pod gets the claim of its ephemeral volume, again where it was deleted, and the claim is its own', () =>
  WorkloadWorld.run(register, async (world) => {
    world.fate = waits;
    const pod = await addPod(world, 'web');
    const place = { namespace: 'default', name: 'web-scratch' };
    const find = async () => await world.client.find(resources.persistentVolumeClaims, place);
    await world.until(async () => (await find()) !== undefined);
    const claim = await find();
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: pod.metadata.uid };
    assert.deepEqual(
      [claim?.metadata.ownerReferences, claim?.metadata.labels, claim?.spec.resources],
      [[{ ...owner, controller: true, blockOwnerDeletion: true }], { a: 'b' }, spec.resources],
    );
  }));

it('a claim of that name which is somebody else’s is left alone, and the pod says so', () =>
  WorkloadWorld.run(register, async (world) => {
    world.fate = waits;
    const place = { namespace: 'default', name: 'web-scratch' };
    await world.client.create(resources.persistentVolumeClaims, { metadata: place, spec });
    await addPod(world, 'web');
    const words = async (): Promise<readonly string[]> =>
      (await world.client.list(resources.events, { namespace: 'default' })).items
        .filter((event) => event['reason'] === 'FailedBinding')
        .map((event) => String(event['message']));
    await world.until(async () => (await words()).length > 0);
    assert.deepEqual(await words(), [
      'ephemeral volume scratch: PVC default/web-scratch was not created for pod default/web (pod is not owner); delete the claim, or give the pod or its volume another name',
    ]);
    const { metadata } = await world.client.get(resources.persistentVolumeClaims, place);
    assert.equal(metadata.ownerReferences, undefined);
  }));
