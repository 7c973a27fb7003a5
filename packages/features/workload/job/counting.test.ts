import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job, JobSpec, JobStatus, Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { runs, succeeds, template, WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { trackingFinalizer } from './job-pod.ts';
import { planJob } from './plan.ts';
import { register } from './register.ts';

const work: JobSpec = { template: { spec: { ...template().spec, restartPolicy: 'Never' } } };
const place = { namespace: 'default', name: 'work' };

/** A node that takes its time with pods that are deleted. */
function withJob(change: Partial<JobSpec>, use: (world: WorkloadWorld) => Promise<void>): Promise<void> {
  return WorkloadWorld.run(register, async (world) => {
    world.isLettingGo = false;
    world.fate = runs;
    await world.create(resources.jobs, 'work', { spec: { ...work, ...change } });
    await use(world);
  });
}

async function statusOf(world: WorkloadWorld): Promise<JobStatus> {
  return (await world.get(resources.jobs, 'work')).status ?? {};
}

async function isOver(world: WorkloadWorld): Promise<boolean> {
  const { conditions = [] } = await statusOf(world);
  return conditions.some(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
}

/** All pods that are being deleted have done their work in the end, and go. */
async function letEnd(world: WorkloadWorld): Promise<void> {
  for (const pod of await world.pods())
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (pod.status?.phase === 'Running') await world.setStatus(pod, { ...pod.status, phase: 'Succeeded' });
      const { uid = '', name = '' } = pod.metadata;
      const options = { gracePeriodSeconds: 0, uid };
      await world.client
        .delete(resources.pods, { namespace: 'default', name }, options)
        .catch(() => undefined);
    }
}

async function trackedPods(world: WorkloadWorld): Promise<number> {
  const pods = await world.pods();
  return pods.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0).length;
}

async function bind(world: WorkloadWorld): Promise<void> {
  await world.until(async () => (await statusOf(world)).ready !== undefined);
  for (const { metadata } of await world.pods())
    await world.client.raw(`/api/v1/namespaces/default/pods/${metadata.name}/binding`, {
      method: 'POST',
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name },
        target: { apiVersion: 'v1', kind: 'Node', name: 'here' },
      }),
    });
}

describe('a job counts', () => {
  it('a pod that was deleted once, however it ended', () =>
    withJob({ completions: 2, parallelism: 1 }, async (world) => {
      await world.until(async () => (await statusOf(world)).ready === 1);
      await bind(world);
      const [pod] = await world.pods();
      await world.client.delete(resources.pods, { namespace: 'default', name: pod?.metadata.name ?? '' });
      world.fate = waits;
      await world.until(async () => {
        await letEnd(world);
        return (await statusOf(world)).failed === 1;
      });
      assert.equal((await statusOf(world)).succeeded, undefined);
    }));

  it('pods that are ended because it is too late as failures, whatever they say at their end', () =>
    withJob(
      { activeDeadlineSeconds: 60, parallelism: 3, completions: 3, podReplacementPolicy: 'Failed' },
      async (world) => {
        await world.until(async () => (await statusOf(world)).ready === 3);
        await bind(world);
        await world.until(async () => {
          await letEnd(world);
          return isOver(world);
        });
        const { failed, succeeded } = await statusOf(world);
        assert.deepEqual([failed, succeeded], [3, undefined]);
      },
    ));

  it('no pod that is not needed any more', () =>
    withJob(
      {
        completions: 3,
        parallelism: 3,
        completionMode: 'Indexed',
        successPolicy: { rules: [{ succeededIndexes: '0' }] },
      },
      async (world) => {
        await world.until(async () => (await statusOf(world)).ready === 3);
        await bind(world);
        const [first] = await world.pods();
        if (first) await world.setStatus(first, { ...first.status, phase: 'Succeeded' });
        await world.until(async () => {
          await letEnd(world);
          return isOver(world);
        });
        const { failed, succeeded } = await statusOf(world);
        assert.deepEqual([failed, succeeded], [undefined, 1]);
      },
    ));

  it('a pod that it has adopted', () =>
    withJob({ completions: 2, parallelism: 1 }, async (world) => {
      await world.until(async () => (await statusOf(world)).ready === 1);
      const { spec } = await world.get(resources.jobs, 'work');
      world.fate = succeeds;
      await world.create(resources.pods, 'found', { spec: work.template.spec });
      await world.until(async () => (await world.get(resources.pods, 'found')).status?.phase === 'Succeeded');
      await world.change(resources.pods, 'found', {
        metadata: { labels: spec.template.metadata?.labels ?? {} },
      });
      await world.until(async () => (await statusOf(world)).succeeded === 1);
    }));

  it('restarts of its containers as failures, also where pods have indexes', () =>
    withJob(
      {
        backoffLimit: 1,
        completions: 1,
        completionMode: 'Indexed',
        template: { spec: { ...template().spec, restartPolicy: 'OnFailure' } },
      },
      async (world) => {
        await world.until(async () => (await statusOf(world)).ready === 1);
        const [pod] = await world.pods();
        const restarted = { name: 'web', image: 'i', imageID: '', ready: false, restartCount: 1 };
        if (pod) await world.setStatus(pod, { ...pod.status, containerStatuses: [restarted] });
        world.isLettingGo = true;
        await world.until(() => isOver(world));
        assert.equal((await statusOf(world)).conditions?.at(-1)?.reason, 'BackoffLimitExceeded');
      },
    ));
});

describe('a job lets pods go', () => {
  it('that its selector does not mean any more', () =>
    withJob({}, async (world) => {
      await world.until(async () => (await statusOf(world)).ready === 1);
      const [pod] = await world.pods();
      const { name = '' } = pod?.metadata ?? {};
      const labels = { 'batch.kubernetes.io/controller-uid': 'another' };
      await world.change(resources.pods, name, { metadata: { labels } });
      await world.until(
        async () => ((await world.get(resources.pods, name)).metadata.finalizers ?? []).length === 0,
      );
    }));

  it('that its selector does not mean any more, also when it is being deleted and waits for them', () => {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: 'job', controller: true };
    const metadata = { ...place, name: 'work-1', ownerReferences: [owner], finalizers: [trackingFinalizer] };
    const pod: Pod = { metadata: { ...metadata, labels: { app: 'another' } }, spec: { containers: [] } };
    const selector = { matchLabels: { app: 'work' } };
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] };
    const job: Job = { metadata: { ...place, uid: 'job', ...deletion }, spec: { ...work, selector } };
    assert.deepEqual(planJob({ job, pods: [pod], nowMs: 0 }), { action: 'free', pods: [pod] });
  });

  it('that outlive it', () =>
    withJob({}, async (world) => {
      await world.until(async () => (await statusOf(world)).ready === 1);
      const [pod] = await world.pods();
      const { name = '' } = pod?.metadata ?? {};
      // As garbage collection does when they are to be orphaned.
      await world.client.delete(resources.jobs, place, { propagationPolicy: 'Background' });
      await world.change(resources.pods, name, { metadata: { ownerReferences: null } });
      await world.until(async () => (await trackedPods(world)) === 0);
    }));

  it('that another job of its name has left', () =>
    withJob({}, async (world) => {
      await world.until(async () => (await statusOf(world)).ready === 1);
      const [pod] = await world.pods();
      const { name = '' } = pod?.metadata ?? {};
      await world.client.delete(resources.jobs, place, { propagationPolicy: 'Background' });
      await world.create<Job>(resources.jobs, 'work', { spec: work });
      await world.until(
        async () => ((await world.get(resources.pods, name)).metadata.finalizers ?? []).length === 0,
      );
    }));
});
