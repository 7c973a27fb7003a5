import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CronJob, CronJobSpec, Job } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { register as registerJobs } from '../job/register.ts';
import { fails, runs, succeeds, template, WorkloadWorld } from '../workload-world.fixture.ts';
import { register } from './register.ts';
import { readSchedule } from './schedule.ts';

const minuteMs = 60_000;
const jobTemplate = { spec: { template: { spec: { ...template().spec, restartPolicy: 'Never' } } } };

function withCronJob(
  change: Partial<CronJobSpec>,
  use: (world: WorkloadWorld) => Promise<void>,
): Promise<void> {
  return WorkloadWorld.run(registerBoth, async (world) => {
    world.fate = succeeds;
    await world.create(resources.cronJobs, 'tick', {
      spec: { schedule: '*/5 * * * *', jobTemplate, ...change },
    });
    await use(world);
  });
}

function registerBoth(manager: Manager): void {
  register(manager);
  registerJobs(manager);
}

const cronJobOf = (world: WorkloadWorld): Promise<CronJob> => world.get(resources.cronJobs, 'tick');

async function jobsOf(world: WorkloadWorld): Promise<readonly Job[]> {
  return (await world.client.list(resources.jobs, { namespace: 'default' })).items;
}

describe('a cron job', () => {
  it('makes a job at each of its times, named by the time, and keeps a few of them', () =>
    withCronJob({}, async (world) => {
      const begin = world.clock.now();
      await world.until(() => world.clock.now() > begin + 26 * minuteMs, 40 * minuteMs);
      const due = (Math.floor(begin / (5 * minuteMs)) + 5) * 5 * minuteMs;
      const names = (await jobsOf(world)).map(({ metadata }) => metadata.name);
      assert.deepEqual(
        names.toSorted((a = '', b = '') => a.localeCompare(b)),
        [2, 1, 0].map((back) => `tick-${due / minuteMs - 5 * back}`),
      );
      const { status } = await cronJobOf(world);
      assert.equal(Date.parse(status?.lastScheduleTime ?? ''), due);
      assert.equal(status?.active, undefined);
      assert.ok(status?.lastSuccessfulTime !== undefined);
    }));

  it('makes none while the last one works, where it is told so', () =>
    withCronJob({ concurrencyPolicy: 'Forbid' }, async (world) => {
      world.fate = runs;
      await world.until(async () => (await cronJobOf(world)).status?.active?.length === 1);
      const begin = world.clock.now();
      await world.until(() => world.clock.now() > begin + 11 * minuteMs, 40 * minuteMs);
      assert.equal((await jobsOf(world)).length, 1);
      for (const pod of await world.pods()) await world.setStatus(pod, { phase: 'Succeeded' });
      await world.until(async () => (await jobsOf(world)).length === 2);
    }));

  it('replaces the last one, where it is told so', () =>
    withCronJob({ concurrencyPolicy: 'Replace' }, async (world) => {
      world.fate = runs;
      await world.until(async () => (await cronJobOf(world)).status?.active?.length === 1);
      const [first] = await jobsOf(world);
      await world.until(async () => {
        const jobs = await jobsOf(world);
        return jobs.length === 1 && jobs[0]?.metadata.uid !== first?.metadata.uid;
      });
    }));

  it('takes only the last of the times that it missed, and none that is too late', () =>
    withCronJob({ suspend: true, startingDeadlineSeconds: 60 }, async (world) => {
      await world.until(() => true);
      world.clock.advance(23 * minuteMs - (world.clock.now() % (5 * minuteMs)));
      await world.change(resources.cronJobs, 'tick', { spec: { suspend: false } });
      const begin = world.clock.now();
      await world.until(async () => (await jobsOf(world)).length === 1);
      assert.ok(world.clock.now() > begin + minuteMs, 'the time that was missed is not made up for');
    }));

  it('keeps one failed job', () =>
    withCronJob({ jobTemplate: { spec: { ...jobTemplate.spec, backoffLimit: 0 } } }, async (world) => {
      world.fate = fails;
      const begin = world.clock.now();
      await world.until(() => world.clock.now() > begin + 16 * minuteMs, 40 * minuteMs);
      assert.equal((await jobsOf(world)).length, 1);
    }));
});

it('schedules mean what crontab users expect', () => {
  const from = Date.parse('2026-01-01T00:03:00Z');
  const next = (text: string, zone?: string): string | undefined => {
    const time = readSchedule(text, zone)?.next(from);
    return time === undefined ? undefined : new Date(time).toISOString();
  };
  assert.equal(next('*/5 * * * *'), '2026-01-01T00:05:00.000Z');
  assert.equal(next('5/15 * * * *'), '2026-01-01T00:05:00.000Z');
  assert.equal(next('0 0 13 * 5'), '2026-01-02T00:00:00.000Z');
  assert.equal(next('0 9 * * MON-FRI', 'Asia/Shanghai'), '2026-01-01T01:00:00.000Z');
  assert.equal(next('TZ=Asia/Shanghai 0 9 * * *'), '2026-01-01T01:00:00.000Z');
  assert.equal(next('@daily'), '2026-01-02T00:00:00.000Z');
  assert.equal(next('@every 1h30m'), '2026-01-01T01:33:00.000Z');
  assert.equal(next('? ? * * *'), '2026-01-01T00:04:00.000Z');
  assert.equal(next('0 0 * * *', 'Nowhere/Land'), undefined);
  const schedule = readSchedule('*/5 * * * *', undefined);
  const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
  assert.equal(schedule?.latest(at('00:03:00'), at('00:05:00')), at('00:05:00'));
  assert.equal(schedule?.latest(at('00:05:00'), at('00:09:59')), undefined);
  assert.equal(schedule?.latest(at('00:05:00'), at('01:17:00')), at('01:15:00'));
});
