import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersistentVolumeClaim, Pod, StatefulSet, StatefulSetSpec } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import {
  type Fate,
  labels,
  runs,
  succeeds,
  template,
  WorkloadWorld,
  waits,
} from '../workload-world.fixture.ts';
import { register } from './register.ts';

const spec: StatefulSetSpec = {
  replicas: 3,
  serviceName: 'db',
  selector: { matchLabels: labels },
  template: template(),
};
const claim: PersistentVolumeClaim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

function withSet(
  change: Partial<StatefulSetSpec>,
  use: (world: WorkloadWorld) => Promise<void>,
): Promise<void> {
  return WorkloadWorld.run(register, async (world) => {
    await world.create(resources.statefulSets, 'db', { spec: { ...spec, ...change } });
    await use(world);
  });
}

const setOf = (world: WorkloadWorld): Promise<StatefulSet> => world.get(resources.statefulSets, 'db');

async function namesOf(world: WorkloadWorld): Promise<readonly (string | undefined)[]> {
  return (await world.pods()).map(({ metadata }) => metadata.name);
}

async function imagesOf(world: WorkloadWorld): Promise<readonly (string | undefined)[]> {
  return (await world.pods()).map(({ spec: { containers } }) => containers[0]?.image);
}

async function isReady(world: WorkloadWorld, count = 3): Promise<boolean> {
  const { status, metadata } = await setOf(world);
  return (
    status?.observedGeneration === metadata.generation &&
    [status?.replicas, status?.readyReplicas, status?.updatedReplicas].every((each) => each === count)
  );
}

/** Pods of the first image run, others wait. */
const onlyFirstRuns: Fate = (pod) => (pod.spec.containers[0]?.image === 'web:1' ? runs(pod) : undefined);

async function stays(world: WorkloadWorld, claimed: () => Promise<boolean>): Promise<void> {
  const begin = world.clock.now();
  await world.until(async () => {
    assert.ok(await claimed());
    return world.clock.now() > begin + 30_000;
  });
}

describe('a stateful set', () => {
  it('makes one pod after the other, each with its name, host name and volume', () =>
    withSet({ volumeClaimTemplates: [claim] }, async (world) => {
      world.fate = waits;
      await world.until(async () => (await world.pods()).length === 1);
      await world.client.create(resources.configMaps, {
        metadata: { namespace: 'default', name: 'time-passes' },
      });
      await stays(world, async () => (await world.pods()).length === 1);
      world.fate = runs;
      await world.setStatus((await world.pods())[0] as Pod, runs({} as Pod) ?? {});
      await world.until(() => isReady(world));
      assert.deepEqual(await namesOf(world), ['db-0', 'db-1', 'db-2']);
      const { metadata, spec: podSpec } = await world.get(resources.pods, 'db-1');
      assert.deepEqual([podSpec.hostname, podSpec.subdomain], ['db-1', 'db']);
      assert.match(JSON.stringify(podSpec.volumes), /"claimName":"data-db-1"/);
      assert.equal(metadata.labels?.['apps.kubernetes.io/pod-index'], '1');
      const { items } = await world.client.list(resources.persistentVolumeClaims, { namespace: 'default' });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name).toSorted((a = '', b = '') => a.localeCompare(b)),
        ['data-db-0', 'data-db-1', 'data-db-2'],
      );
      const { currentRevision, updateRevision, currentReplicas, availableReplicas } =
        (await setOf(world)).status ?? {};
      assert.equal(currentRevision, updateRevision);
      assert.deepEqual([currentReplicas, availableReplicas], [3, 3]);
    }));

  it('makes them together where it is told to', () =>
    withSet({ podManagementPolicy: 'Parallel' }, async (world) => {
      world.fate = waits;
      await world.until(async () => (await world.pods()).length === 3);
    }));

  it('makes a pod that has ended anew, under its name', () =>
    withSet({}, async (world) => {
      await world.until(() => isReady(world));
      const before = (await world.pods())[1];
      await world.setStatus(before as Pod, succeeds({} as Pod) ?? {});
      await world.until(async () => {
        const after = (await world.pods())[1];
        return (
          after?.metadata.name === 'db-1' &&
          after.metadata.uid !== before?.metadata.uid &&
          (await isReady(world))
        );
      });
    }));

  it('rolls from the highest pod down, and stops where a pod does not become ready', () =>
    withSet({}, async (world) => {
      await world.until(() => isReady(world));
      world.fate = onlyFirstRuns;
      await world.change(resources.statefulSets, 'db', { spec: { template: template('web:2') } });
      await world.until(async () => (await imagesOf(world))[2] === 'web:2');
      await stays(
        world,
        async () => (await imagesOf(world)).filter((image) => image === 'web:1').length === 2,
      );
      // Going back needs nobody's help.
      await world.change(resources.statefulSets, 'db', { spec: { template: template('web:1') } });
      await world.until(
        async () => (await isReady(world)) && (await imagesOf(world)).every((image) => image === 'web:1'),
      );
      world.fate = runs;
      await world.change(resources.statefulSets, 'db', { spec: { template: template('web:3') } });
      await world.until(
        async () => (await isReady(world)) && (await imagesOf(world)).every((image) => image === 'web:3'),
      );
      const { items } = await world.client.list(resources.controllerRevisions, { namespace: 'default' });
      assert.deepEqual(
        items.map(({ revision }) => revision).toSorted((a, b) => a - b),
        [2, 3, 4],
      );
    }));

  it('keeps the pods below the partition, and makes them again as they were', () =>
    withSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }, async (world) => {
      await world.until(() => isReady(world));
      await world.change(resources.statefulSets, 'db', { spec: { template: template('web:2') } });
      await world.until(
        async () =>
          (await imagesOf(world))[2] === 'web:2' && (await setOf(world)).status?.readyReplicas === 3,
      );
      await world.client.delete(resources.pods, { namespace: 'default', name: 'db-0' });
      await world.until(
        async () => (await setOf(world)).status?.readyReplicas === 3 && (await world.pods()).length === 3,
      );
      assert.deepEqual(await imagesOf(world), ['web:1', 'web:1', 'web:2']);
      const { status } = await setOf(world);
      assert.deepEqual([status?.currentReplicas, status?.updatedReplicas], [2, 1]);
      assert.notEqual(status?.currentRevision, status?.updateRevision);
    }));

  it('waits for users to delete pods where it is told to', () =>
    withSet({ updateStrategy: { type: 'OnDelete' } }, async (world) => {
      await world.until(() => isReady(world));
      await world.change(resources.statefulSets, 'db', { spec: { template: template('web:2') } });
      await world.until(
        async () =>
          (await setOf(world)).status?.updateRevision !== (await setOf(world)).status?.currentRevision,
      );
      await stays(world, async () => (await imagesOf(world)).every((image) => image === 'web:1'));
      await world.client.delete(resources.pods, { namespace: 'default', name: 'db-1' });
      await world.until(async () => (await imagesOf(world))[1] === 'web:2');
    }));

  it('goes down one by one from the highest, and gives volumes back only where it is told to', () =>
    withSet(
      {
        template: template('web:1', { nodeName: 'here' }),
        volumeClaimTemplates: [claim],
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
      },
      async (world) => {
        await world.until(() => isReady(world));
        world.isLettingGo = false;
        await world.change(resources.statefulSets, 'db', { spec: { replicas: 1 } });
        await world.until(async () => {
          const owned = await world.get(resources.persistentVolumeClaims, 'data-db-2');
          return owned.metadata.ownerReferences?.[0]?.kind === 'Pod';
        });
        assert.deepEqual(
          (await world.get(resources.persistentVolumeClaims, 'data-db-0')).metadata.ownerReferences,
          undefined,
        );
        world.isLettingGo = true;
        await world.client.delete(
          resources.pods,
          { namespace: 'default', name: 'db-2' },
          { gracePeriodSeconds: 0 },
        );
        await world.until(async () => (await namesOf(world)).join() === 'db-0');
      },
    ));

  it('begins no pod on a volume that goes, and gives a waiting one the volume that it has lost', () =>
    withSet({ replicas: 1, volumeClaimTemplates: [claim] }, async (world) => {
      const place = { namespace: 'default', name: 'data-db-0' };
      await world.until(() => isReady(world, 1));
      const first = await world.get(resources.persistentVolumeClaims, place.name);
      // Whoever protects claims in use lets it go only later.
      await world.client.delete(resources.persistentVolumeClaims, place);
      await world.client.delete(resources.pods, { namespace: 'default', name: 'db-0' });
      const isSaid = async (): Promise<boolean> => {
        const { items } = await world.client.list(resources.events, { namespace: 'default' });
        return items.some(({ message }) => /pvc data-db-0 is being deleted/.test(String(message)));
      };
      await world.until(isSaid);
      assert.deepEqual(await namesOf(world), []);
      const letGo = async (): Promise<void> => {
        await world.client.patch(resources.persistentVolumeClaims, place, {
          type: 'merge',
          body: { metadata: { finalizers: null } },
        });
      };
      await letGo();
      await world.until(() => isReady(world, 1));
      const second = await world.get(resources.persistentVolumeClaims, place.name);
      assert.notEqual(second.metadata.uid, first.metadata.uid);
      world.fate = () => undefined;
      await world.client.delete(resources.pods, { namespace: 'default', name: 'db-0' });
      await world.until(async () => (await world.pods())[0]?.status?.phase === 'Pending');
      await world.client.delete(resources.persistentVolumeClaims, place);
      await letGo();
      await world.until(async () => {
        const claims = await world.client.list(resources.persistentVolumeClaims, { namespace: 'default' });
        return claims.items.some(({ metadata }) => metadata.uid !== second.metadata.uid);
      });
    }));

  it('can begin at another number', () =>
    withSet({ ordinals: { start: 5 }, replicas: 2 }, async (world) => {
      await world.until(() => isReady(world, 2));
      assert.deepEqual(await namesOf(world), ['db-5', 'db-6']);
    }));
});
