import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job, JobSpec, Pod, PodStatus } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { fails, runs, succeeds, template, WorkloadWorld } from '../workload-world.fixture.ts';
import { formatIndexes, parseIndexes } from './indexes.ts';
import { register } from './register.ts';

const work: JobSpec = { template: { spec: { ...template().spec, restartPolicy: 'Never' } } };

function withJob(change: Partial<JobSpec>, use: (world: WorkloadWorld) => Promise<void>): Promise<void> {
  return WorkloadWorld.run(register, async (world) => {
    world.fate = succeeds;
    await world.create(resources.jobs, 'work', { spec: { ...work, ...change } });
    await use(world);
  });
}

const jobOf = (world: WorkloadWorld): Promise<Job> => world.get(resources.jobs, 'work');

async function conditionsOf(world: WorkloadWorld): Promise<readonly string[]> {
  const { status } = await jobOf(world);
  return (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
}

async function has(world: WorkloadWorld, type: string): Promise<boolean> {
  return (await conditionsOf(world)).some((text) => text.startsWith(`${type}=True`));
}

function ended(world: WorkloadWorld, exitCode: number): PodStatus {
  const finishedAt = new Date(world.clock.now()).toISOString();
  const state = { terminated: { exitCode, finishedAt } };
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [{ name: 'web', image: 'i', imageID: '', ready: false, restartCount: 0, state }],
  };
}

const indexesOf = (pods: readonly Pod[]): readonly (string | undefined)[] =>
  pods.map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index']);

describe('a job', () => {
  it('runs as many pods as it asks for, never more than may run at once', () =>
    withJob({ completions: 5, parallelism: 2 }, async (world) => {
      world.fate = runs;
      let most = 0;
      await world.until(async () => {
        const running = (await world.pods()).filter(({ status }) => status?.phase === 'Running');
        most = Math.max(most, running.length);
        for (const pod of running) await world.setStatus(pod, ended(world, 0));
        return has(world, 'Complete');
      });
      assert.ok(most <= 2, `${most} at once`);
      const { conditions: _, startTime, completionTime, ...counts } = (await jobOf(world)).status ?? {};
      assert.ok(startTime !== undefined && completionTime !== undefined);
      assert.deepEqual(counts, { succeeded: 5, terminating: 0, uncountedTerminatedPods: {}, ready: 0 });
      assert.deepEqual(await conditionsOf(world), [
        'SuccessCriteriaMet=True CompletionsReached',
        'Complete=True CompletionsReached',
      ]);
      const pods = await world.pods();
      assert.equal(pods.length, 5);
      await world.until(async () =>
        (await world.pods()).every(({ metadata }) => !metadata.finalizers?.length),
      );
    }));

  it('tries again after failures, each time later, and fails after too many', () =>
    withJob({ backoffLimit: 2 }, async (world) => {
      const times: number[] = [];
      world.fate = () => {
        times.push(world.clock.now());
        return ended(world, 1);
      };
      await world.until(() => has(world, 'Failed'));
      const waits = times.map((time, index) => time - (times[index - 1] ?? time)).slice(1);
      assert.equal(times.length, 3);
      assert.ok((waits[0] ?? 0) >= 10_000 && (waits[1] ?? 0) >= 20_000, waits.join());
      assert.equal((await jobOf(world)).status?.failed, 3);
      assert.deepEqual(await conditionsOf(world), [
        'FailureTarget=True BackoffLimitExceeded',
        'Failed=True BackoffLimitExceeded',
      ]);
    }));

  it('ends its pods when its time is over', () =>
    withJob({ activeDeadlineSeconds: 60, parallelism: 3, completions: 3 }, async (world) => {
      world.fate = runs;
      await world.until(async () => (await jobOf(world)).status?.ready === 3);
      await world.until(() => has(world, 'Failed'));
      assert.deepEqual(await world.pods(), []);
      assert.equal((await conditionsOf(world))[0], 'FailureTarget=True DeadlineExceeded');
    }));

  it('suspended it lets its pods go without counting them, resumed it goes on', () =>
    withJob({ completions: 2, parallelism: 2 }, async (world) => {
      world.fate = runs;
      await world.until(async () => (await jobOf(world)).status?.active === 2);
      await world.change(resources.jobs, 'work', { spec: { suspend: true } });
      await world.until(async () => (await has(world, 'Suspended')) && (await world.pods()).length === 0);
      assert.equal((await jobOf(world)).status?.failed, undefined);
      assert.equal((await jobOf(world)).status?.startTime, undefined);
      world.fate = succeeds;
      await world.change(resources.jobs, 'work', { spec: { suspend: false } });
      await world.until(() => has(world, 'Complete'));
      assert.equal((await jobOf(world)).status?.succeeded, 2);
    }));

  it('ends a pod that it has let go of, whose end would not count, and makes another', () =>
    withJob({ completions: 1, suspend: true }, async (world) => {
      world.fate = runs;
      await world.change(resources.jobs, 'work', { spec: { suspend: false } });
      await world.until(async () => (await jobOf(world)).status?.active === 1);
      const [first] = await world.pods();
      await world.change(resources.pods, first?.metadata.name ?? '', { metadata: { finalizers: null } });
      await world.until(async () => {
        const pods = await world.pods();
        return pods.length === 1 && pods[0]?.metadata.uid !== first?.metadata.uid;
      });
      assert.equal((await jobOf(world)).status?.failed ?? 0, 0);
    }));

  it('gives each pod its index, and the same one to its replacement', () =>
    withJob({ completions: 3, parallelism: 3, completionMode: 'Indexed' }, async (world) => {
      world.fate = runs;
      await world.until(async () => (await jobOf(world)).status?.active === 3);
      const pods = await world.pods();
      assert.deepEqual(indexesOf(pods), ['0', '1', '2']);
      const [first, second] = pods;
      assert.ok(first && second);
      assert.match(String(second.metadata.name), /^work-1-[a-z0-9]{5}$/);
      assert.equal(second.spec.hostname, 'work-1');
      assert.match(JSON.stringify(second.spec.containers), /JOB_COMPLETION_INDEX/);
      await world.setStatus(first, ended(world, 0));
      await world.setStatus(second, ended(world, 1));
      await world.until(
        async () => indexesOf(await world.pods()).filter((index) => index === '1').length === 2,
      );
      assert.equal((await jobOf(world)).status?.completedIndexes, '0');
      for (const pod of await world.pods())
        if (pod.status?.phase === 'Running') await world.setStatus(pod, ended(world, 0));
      await world.until(() => has(world, 'Complete'));
      assert.equal((await jobOf(world)).status?.completedIndexes, '0-2');
    }));

  it('counts failures by index where it is told to', () =>
    withJob(
      { completions: 3, parallelism: 3, completionMode: 'Indexed', backoffLimitPerIndex: 1 },
      async (world) => {
        world.fate = (pod) => ended(world, indexesOf([pod])[0] === '1' ? 1 : 0);
        await world.until(() => has(world, 'Failed'));
        const { status } = await jobOf(world);
        assert.deepEqual([status?.failedIndexes, status?.completedIndexes, status?.failed], ['1', '0,2', 2]);
        assert.equal((await conditionsOf(world))[1], 'Failed=True FailedIndexes');
      },
    ));

  it('follows its policies about failures and success', () =>
    withJob(
      {
        completions: 2,
        backoffLimit: 0,
        podFailurePolicy: {
          rules: [
            { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
            { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
          ],
        },
      },
      async (world) => {
        const ends = [
          { ...ended(world, 1), conditions: [{ type: 'DisruptionTarget', status: 'True' as const }] },
          ended(world, 42),
        ];
        world.fate = () => ends.shift();
        await world.until(() => has(world, 'Failed'));
        const { status } = await jobOf(world);
        assert.equal(status?.failed, 1);
        assert.match(
          status?.conditions?.[1]?.message ?? '',
          /^Container web for pod default\/work-[a-z0-9]+ failed with exit code 42 matching FailJob rule at index 1$/,
        );
      },
    ));

  it('is deleted some time after its end, with its pods', () =>
    withJob({ ttlSecondsAfterFinished: 100 }, async (world) => {
      await world.until(() => has(world, 'Complete'));
      const end = world.clock.now();
      await world.until(async () => (await jobOf(world)).metadata.deletionTimestamp !== undefined);
      assert.ok(world.clock.now() - end >= 99_000);
    }));

  it('lets its pods go when it is deleted before they have ended', () =>
    withJob({}, async (world) => {
      world.fate = runs;
      await world.until(async () => (await jobOf(world)).status?.ready === 1);
      await world.client.delete(
        resources.jobs,
        { namespace: 'default', name: 'work' },
        { propagationPolicy: 'Orphan' },
      );
      world.fate = fails;
      await world.until(async () =>
        (await world.pods()).every(
          ({ metadata }) => !metadata.finalizers?.includes('batch.kubernetes.io/job-tracking'),
        ),
      );
    }));
});

it('lists of indexes are read and written as clients know them', () => {
  assert.equal(formatIndexes([7, 1, 3, 4, 5, 8]), '1,3-5,7,8');
  assert.deepEqual([...parseIndexes('1,3-5,7,8')], [1, 3, 4, 5, 7, 8]);
  assert.equal(formatIndexes([]), '');
  assert.deepEqual([...parseIndexes('')], []);
});
