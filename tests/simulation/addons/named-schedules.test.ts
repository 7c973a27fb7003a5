import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from '@sheaf/api/workload/index';
import { type ResourceRef, resources } from '@sheaf/client';
import { namespace } from './kinds.ts';
import { registerOriginalAddons } from './original-addons.ts';
import { AddonStage, type StageOptions } from './stage.ts';

/** Longer than any rest of a controller. */
const quietMs = 20 * 60_000;
const name = 'web';

/** One schedule of the story, told step by step. */
class Story {
  readonly stage: AddonStage;

  constructor(options: Partial<StageOptions>) {
    this.stage = new AddonStage({ seed: 1, ...options });
    this.stage.isCoarse = true;
  }

  /** Time passes, and Helm does what it is asked for, until nothing has happened for long. */
  async rest(): Promise<void> {
    const { simulation, world } = this.stage;
    const end = simulation.clock.monotonic() + quietMs;
    while (simulation.clock.monotonic() < end) {
      if (simulation.scheduler.choices === 0) await world.finishAll();
      await simulation.settle();
      await simulation.step();
    }
  }

  /** Everything that is under way is carried out, but for Helm. */
  async quiesce(seconds = 0): Promise<void> {
    const { simulation } = this.stage;
    const end = simulation.clock.monotonic() + seconds * 1000;
    do {
      await simulation.settle();
      await this.stage.quiesce();
    } while (simulation.clock.monotonic() < end && simulation.pass());
  }

  async enable(isEnabled = true): Promise<void> {
    await this.stage.users.setEnabled(name, isEnabled);
  }

  async change<T extends ResourceRef>(resource: T, of: string, body: object): Promise<void> {
    const { client } = this.stage.simulation.server;
    await client.patch(resource, { namespace, name: of }, { type: 'merge', body: body as never });
  }

  /** The clock of the machine is put back. */
  turnBack(seconds: number): void {
    const { clock } = this.stage.simulation;
    const now = clock.now.bind(clock);
    clock.now = () => now() - seconds * 1000;
  }

  job(of = `helm-install-${name}`): Job | undefined {
    return this.stage.objects.all(resources.jobs).find(({ metadata }) => metadata.name === of);
  }

  get state(): string {
    return this.stage.addonState(name);
  }

  get failure(): string {
    const addon = this.stage.users.addons().find(({ metadata }) => metadata.name === name);
    const failed = addon?.status?.conditions?.find(({ type }) => type === 'OperationFailed');
    return failed?.status === 'True' ? (failed.message ?? '') : '';
  }
}

interface Schedule {
  readonly title: string;
  readonly play: (story: Story) => Promise<void>;
  /** Where it ends. */
  readonly ends: string;
  /** Where the rule of the original stays for ever; absent: it comes to the same end. */
  readonly hangs?: string;
  /** There it does not even say that anything has failed. */
  readonly isSilent?: boolean;
  readonly failure?: RegExp;
}

const schedules: readonly Schedule[] = [
  {
    title: 'nothing goes wrong',
    play: (story) => story.enable(),
    ends: 'AddonDeploySuccessful',
  },
  {
    title: 'the clock goes back, so that the Job is older than the operation it is for',
    async play(story) {
      await story.enable();
      // The condition is written by the one clock, the Job by the other.
      while (story.stage.objects.all(resources.helmCharts).length === 0) await story.stage.simulation.step();
      story.turnBack(120);
    },
    ends: 'AddonDeploySuccessful',
    hangs: 'AddonEnabling',
  },
  {
    title: 'values are changed and changed back before anybody looks: the Job stays the one that it was',
    async play(story) {
      await story.enable();
      await story.rest();
      const { simulation } = story.stage;
      await story.change(resources.addons, name, { spec: { valuesContent: 'a: 1' } });
      await story.quiesce();
      // The chart is put back by hand, and with it the add-on, in the moment in which Helm would begin.
      await story.change(resources.helmCharts, name, { spec: { valuesContent: '' } });
      await story.change(resources.addons, name, { spec: { valuesContent: '' } });
      await simulation.settle();
    },
    ends: 'AddonDeploySuccessful',
  },
  {
    title: 'the status is lost, as when an add-on is written back from a file: its Job is done, and older',
    async play(story) {
      await story.enable();
      await story.rest();
      await story.quiesce(10);
      const { client } = story.stage.simulation.server;
      const addon = await client.get(resources.addons, { namespace, name });
      await client.updateStatus(resources.addons, { ...addon, status: {} });
    },
    ends: 'AddonDeploySuccessful',
    hangs: 'AddonEnabling',
  },
  {
    title: 'the Job is deleted while it works, and made again',
    async play(story) {
      await story.enable();
      await story.quiesce(2);
      await story.stage.users.deleteOne(resources.jobs, `helm-install-${name}`);
    },
    ends: 'AddonDeploySuccessful',
  },
  {
    title: 'an operation has failed, and the values are put right',
    async play(story) {
      story.stage.world.lasting = 65;
      await story.enable();
      await story.rest();
      assert.notEqual(story.failure, '');
      story.stage.world.lasting = undefined;
      await story.stage.users.changeValues(name);
    },
    ends: 'AddonDeploySuccessful',
    hangs: 'AddonEnabling',
  },
  {
    title:
      'a pull without a network takes longer than its Job may: it fails for another reason than too many tries',
    async play(story) {
      await story.enable();
      await story.quiesce(2);
      await story.change(resources.jobs, `helm-install-${name}`, { spec: { activeDeadlineSeconds: 60 } });
      await story.quiesce(90);
    },
    ends: 'AddonEnabling',
    hangs: 'AddonEnabling',
    isSilent: true,
    failure: /DeadlineExceeded.*needs someone: /,
  },
  {
    title: 'it is switched on again while it is switched off',
    async play(story) {
      await story.enable();
      await story.rest();
      await story.enable(false);
      await story.quiesce();
      await story.enable();
    },
    ends: 'AddonDeploySuccessful',
  },
  {
    title: 'switching off has failed, and it is switched on instead',
    async play(story) {
      await story.enable();
      await story.rest();
      story.stage.world.lasting = 69;
      await story.enable(false);
      await story.rest();
      assert.notEqual(story.failure, '');
      story.stage.world.lasting = undefined;
      await story.enable();
      await story.stage.users.tryAgain(name);
    },
    ends: 'AddonDeploySuccessful',
    hangs: 'AddonDisabling',
  },
  {
    title: 'it is switched fifty times, and off at last',
    async play(story) {
      for (let time = 0; time < 50; time++) {
        await story.enable(time % 2 === 0);
        for (let step = 0; step < time % 7; step++) await story.stage.simulation.step();
      }
    },
    ends: 'AddonDisabled',
  },
];

async function play({ play: tell }: Schedule, options: Partial<StageOptions>): Promise<Story> {
  const story = new Story(options);
  await story.stage.start();
  await story.stage.users.make(name);
  await tell(story);
  await story.rest();
  await story.stage.simulation.stop();
  return story;
}

describe('named schedules of add-ons', () => {
  for (const schedule of schedules)
    it(`${schedule.title}: ${schedule.ends}`, async () => {
      const story = await play(schedule, {});
      assert.equal(story.state, schedule.ends);
      assert.match(story.failure, schedule.failure ?? /^$/);
      assert.deepEqual(story.stage.world.violations, []);
    });
});

describe('the same schedules by the rule of the original', () => {
  for (const schedule of schedules.filter(({ hangs }) => hangs !== undefined))
    it(`${schedule.title}: hangs ${schedule.hangs}`, async () => {
      const story = await play(schedule, { registerAddons: registerOriginalAddons });
      assert.equal(story.state, schedule.hangs);
      if (schedule.isSilent) assert.equal(story.failure, '');
    });

  it('comes to its end where nothing goes wrong: the model works', async () => {
    const [first] = schedules;
    assert.ok(first);
    assert.equal((await play(first, { registerAddons: registerOriginalAddons })).state, first.ends);
  });
});
