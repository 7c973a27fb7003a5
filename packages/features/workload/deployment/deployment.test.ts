import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment, DeploymentSpec, ReplicaSet } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { register as registerReplicaSets } from '../replica-set/register.ts';
import { fails, labels, runs, template, WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { planDeployment } from './plan.ts';
import { register } from './register.ts';

function registerBoth(manager: Manager): void {
  register(manager);
  registerReplicaSets(manager);
}

const spec: DeploymentSpec = { replicas: 4, selector: { matchLabels: labels }, template: template() };

function withDeployment(
  use: (world: WorkloadWorld) => Promise<void>,
  change: Partial<DeploymentSpec> = {},
): Promise<void> {
  return WorkloadWorld.run(registerBoth, async (world) => {
    await world.create(resources.deployments, 'web', { spec: { ...spec, ...change } });
    await world.until(
      async () => reasonOf(await deploymentOf(world), 'Progressing') === 'NewReplicaSetAvailable',
    );
    await use(world);
  });
}

const deploymentOf = (world: WorkloadWorld): Promise<Deployment> => world.get(resources.deployments, 'web');

async function setsOf(world: WorkloadWorld): Promise<readonly ReplicaSet[]> {
  const { items } = await world.client.list(resources.replicaSets, { namespace: 'default' });
  return items.toSorted((a, b) => revisionOf(a) - revisionOf(b));
}

function revisionOf({ metadata }: Pick<Deployment, 'metadata'>): number {
  return Number(metadata.annotations?.['deployment.kubernetes.io/revision']);
}

function reasonOf({ status }: Deployment, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.reason;
}

async function imagesOf(world: WorkloadWorld): Promise<readonly (string | undefined)[]> {
  return (await world.pods()).map(({ spec: { containers } }) => containers[0]?.image);
}

async function setImage(world: WorkloadWorld, image: string): Promise<void> {
  await world.change(resources.deployments, 'web', { spec: { template: template(image) } });
}

async function isDone(world: WorkloadWorld): Promise<boolean> {
  const { metadata, status } = await deploymentOf(world);
  const counts = [status?.updatedReplicas, status?.replicas, status?.availableReplicas];
  return status?.observedGeneration === metadata.generation && counts.every((count) => count === 4);
}

describe('a deployment', () => {
  it('has a replica set, and the status that clients wait for', () =>
    withDeployment(async (world) => {
      const { status, metadata } = await deploymentOf(world);
      const { conditions = [], ...counts } = status ?? {};
      assert.deepEqual(counts, {
        observedGeneration: 1,
        replicas: 4,
        updatedReplicas: 4,
        readyReplicas: 4,
        availableReplicas: 4,
        terminatingReplicas: 0,
      });
      assert.deepEqual(
        conditions.map(({ type, status: is, reason }) => [type, is, reason]),
        [
          ['Available', 'True', 'MinimumReplicasAvailable'],
          ['Progressing', 'True', 'NewReplicaSetAvailable'],
        ],
      );
      assert.equal(metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
      const [set] = await setsOf(world);
      assert.equal(set?.metadata.name, `web-${set?.metadata.labels?.['pod-template-hash']}`);
    }));

  it('rolls to a new template without ever having too few or too many pods', () =>
    withDeployment(
      async (world) => {
        let most = 0;
        let fewest = 4;
        await setImage(world, 'web:2');
        await world.until(async () => {
          const pods = (await world.pods()).filter(
            ({ metadata }) => metadata.deletionTimestamp === undefined,
          );
          most = Math.max(most, pods.length);
          fewest = Math.min(fewest, pods.filter(({ status }) => status?.phase === 'Running').length);
          return isDone(world);
        });
        assert.deepEqual(await imagesOf(world), ['web:2', 'web:2', 'web:2', 'web:2']);
        assert.ok(most <= 5 && fewest >= 3, `${fewest} to ${most} pods`);
        assert.deepEqual(
          (await setsOf(world)).map((set) => [revisionOf(set), set.spec.replicas]),
          [
            [1, 0],
            [2, 4],
          ],
        );
      },
      { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
    ));

  it('goes back to an earlier template, whose set gets the next number', () =>
    withDeployment(async (world) => {
      await setImage(world, 'web:2');
      await world.until(() => isDone(world));
      await setImage(world, 'web:1');
      await world.until(
        async () => (await isDone(world)) && (await imagesOf(world)).every((image) => image === 'web:1'),
      );
      const sets = await setsOf(world);
      assert.deepEqual(sets.map(revisionOf), [2, 3]);
      assert.equal(sets[1]?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1');
      assert.equal(revisionOf(await deploymentOf(world)), 3);
    }));

  it('says when a rollout does not get on, keeps what serves, and goes on when it can', () =>
    withDeployment(
      async (world) => {
        world.fate = waits;
        await setImage(world, 'web:2');
        await world.until(
          async () => reasonOf(await deploymentOf(world), 'Progressing') === 'ProgressDeadlineExceeded',
        );
        const { status } = await deploymentOf(world);
        assert.equal(status?.availableReplicas, 3);
        assert.equal(reasonOf(await deploymentOf(world), 'Available'), 'MinimumReplicasAvailable');
        world.fate = runs;
        for (const pod of await world.pods())
          if (pod.status?.phase === 'Pending') await world.setStatus(pod, runs(pod) ?? {});
        await world.until(() => isDone(world));
        assert.equal(reasonOf(await deploymentOf(world), 'Progressing'), 'NewReplicaSetAvailable');
      },
      { progressDeadlineSeconds: 60 },
    ));

  it('recreates: no pod of the new template before the last old one has ended', () =>
    withDeployment(
      async (world) => {
        world.isLettingGo = false;
        await world.change(resources.deployments, 'web', {
          spec: { template: template('web:2', { nodeName: 'here' }) },
        });
        await world.until(async () =>
          (await world.pods()).every(({ metadata }) => metadata.deletionTimestamp !== undefined),
        );
        assert.deepEqual(await imagesOf(world), ['web:1', 'web:1', 'web:1', 'web:1']);
        world.isLettingGo = true;
        for (const { metadata } of await world.pods())
          await world.client.delete(
            resources.pods,
            { namespace: 'default', name: metadata.name ?? '' },
            { gracePeriodSeconds: 0 },
          );
        await world.until(() => isDone(world));
        assert.deepEqual(await imagesOf(world), ['web:2', 'web:2', 'web:2', 'web:2']);
      },
      { strategy: { type: 'Recreate' }, template: template('web:1', { nodeName: 'here' }) },
    ));

  it('recreated, its new pods wait until the old set says that it has none and makes none', () => {
    const spec = { selector: { matchLabels: labels }, template: template('web:2') };
    const deployment = {
      metadata: { uid: 'd' },
      spec: { ...spec, strategy: { type: 'Recreate' } },
    } as Deployment;
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller: true },
    ];
    const actionFor = (status: ReplicaSet['status']): string => {
      const metadata = { name: 'web-1', uid: 's', labels, ownerReferences, generation: 2 };
      const old = {
        metadata,
        spec: { ...spec, template: template('web:1'), replicas: 0 },
        status,
      } as ReplicaSet;
      return planDeployment({ deployment, sets: [old], pods: [] }).action;
    };
    assert.equal(actionFor({ replicas: 0, observedGeneration: 1 }), 'none');
    assert.equal(actionFor({ replicas: 1, observedGeneration: 2 }), 'none');
    assert.equal(actionFor({ replicas: 0, observedGeneration: 2 }), 'create');
  });

  it('paused, it is scaled but does not roll', () =>
    withDeployment(async (world) => {
      await world.change(resources.deployments, 'web', { spec: { paused: true } });
      await setImage(world, 'web:2');
      await world.change(resources.deployments, 'web', { spec: { replicas: 6 } });
      await world.until(async () => (await deploymentOf(world)).status?.availableReplicas === 6);
      assert.deepEqual(new Set(await imagesOf(world)), new Set(['web:1']));
      assert.equal(reasonOf(await deploymentOf(world), 'Progressing'), 'DeploymentPaused');
      await world.change(resources.deployments, 'web', { spec: { paused: false, replicas: 4 } });
      await world.until(() => isDone(world));
      assert.deepEqual(new Set(await imagesOf(world)), new Set(['web:2']));
    }));

  it('scaled while it rolls, each set gets its share', () =>
    withDeployment(
      async (world) => {
        world.fate = waits;
        await setImage(world, 'web:2');
        await world.until(async () => (await setsOf(world))[1]?.spec.replicas === 4);
        await world.change(resources.deployments, 'web', { spec: { replicas: 8 } });
        await world.until(async () => {
          const [old, next] = await setsOf(world);
          return (old?.spec.replicas ?? 0) + (next?.spec.replicas ?? 0) === 10;
        });
        assert.deepEqual(
          (await setsOf(world)).map((set) => set.spec.replicas),
          [3, 7],
        );
      },
      { strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: '50%' } } },
    ));

  for (const paused of [false, true])
    it(`scaled while it rolls, and to be recreated from now on${paused ? ', but paused' : ''}, it comes to its number`, () =>
      withDeployment(async (world) => {
        // Pods of the new template do not become ready, so there are some of both.
        world.fate = (pod) => (pod.spec.containers[0]?.image === 'web:1' ? runs(pod) : undefined);
        await setImage(world, 'web:2');
        await world.until(async () => new Set(await imagesOf(world)).size === 2);
        const strategy = { type: 'Recreate', rollingUpdate: null };
        await world.change(resources.deployments, 'web', { spec: { replicas: 1, paused, strategy } });
        await world.until(async () => (await world.pods()).length === 1);
        world.fate = runs;
        await world.change(resources.deployments, 'web', { spec: { paused: false } });
        await world.until(async () => (await imagesOf(world)).join() === 'web:2');
      }));

  it('keeps as many earlier sets as it is told to', () =>
    withDeployment(
      async (world) => {
        for (const version of [2, 3, 4]) {
          await setImage(world, `web:${version}`);
          await world.until(
            async () =>
              (await isDone(world)) && (await imagesOf(world)).every((image) => image === `web:${version}`),
          );
        }
        await world.until(async () => (await setsOf(world)).length === 2);
        assert.deepEqual((await setsOf(world)).map(revisionOf), [3, 4]);
      },
      { revisionHistoryLimit: 1 },
    ));

  it('tells what keeps its pods from being made', () =>
    WorkloadWorld.run(registerBoth, async (world) => {
      world.fate = fails;
      await world.create(resources.deployments, 'web', {
        spec: { ...spec, template: template('web:1', { serviceAccountName: 'nobody' }) },
      });
      await world.until(async () => reasonOf(await deploymentOf(world), 'ReplicaFailure') === 'FailedCreate');
      const { status } = await deploymentOf(world);
      assert.match(
        status?.conditions?.find(({ type }) => type === 'ReplicaFailure')?.message ?? '',
        /nobody/,
      );
    }));
});
