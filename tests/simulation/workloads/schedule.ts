import type { ResourceRef } from '@sheaf/client';
import type { NetworkFaults } from '@sheaf/testkit';
import { allDeaths, runCourse, type Shape } from '../course.ts';
import type { Mirror } from '../mirrored-server.ts';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { everything, familyOf } from './families.ts';
import { type StageOptions, WorkloadStage } from './stage.ts';

const usual = { outlastsUse: false, quietPace: 4, eventRarity: 4, waysToDie: allDeaths };

/** Long runs on the API server itself. */
const rich: Shape = {
  ...usual,
  actions: [8, 24],
  furnished: 2,
  pace: [4, 60],
  deaths: 3,
  deathRarity: 12,
  fineRarity: 2,
  clearRarity: 2,
};

/** Short runs: most defects need few things to happen, so many short runs find more in an hour than few long ones. */
const light: Shape = {
  ...usual,
  actions: [1, 4],
  furnished: 1,
  pace: [3, 16],
  deaths: 2,
  deathRarity: 6,
  fineRarity: 24,
  clearRarity: 8,
};

/** Each request is carried out once, and its sender hears of it. */
const exactFaults: readonly (keyof NetworkFaults)[] = [
  'lostRequest',
  'refused',
  'brokenWatch',
  'expiredWatch',
  'conflict',
  'repeatedEvent',
];
const faults: readonly (keyof NetworkFaults)[] = [...exactFaults, 'lostAnswer', 'duplicated'];

/** One run of workloads under random use and faults, decided by its seed. */
export function runSchedule(options: ScheduleOptions): Promise<Outcome> {
  return runShape(rich, { ...options, isLean: false, family: everything });
}

export function runLightSchedule(options: ScheduleOptions): Promise<Outcome> {
  return runShape(light, { ...options, isLean: true, family: familyOf(options.seed) });
}

/** A long run on a server that is mirrored; what the two keep in the end is compared, too. */
export async function runMirroredSchedule(
  options: ScheduleOptions,
  mirror: Mirror,
  kinds: readonly ResourceRef[],
): Promise<Outcome> {
  const open = mirror.servers(() => undefined);
  return runShape(rich, { ...options, isLean: false, family: everything, open }, ({ simulation }) =>
    mirror.compareAll(simulation.server.client, kinds),
  );
}

function runShape(
  shape: Shape,
  options: StageOptions,
  atEnd: (stage: WorkloadStage) => Promise<void> = () => Promise.resolve(),
): Promise<Outcome> {
  const stage = new WorkloadStage(options);
  return runCourse(
    {
      stage,
      begin() {
        stage.isExact = stage.simulation.random.integer(2) === 0;
        return stage.start();
      },
      furnish: () => stage.users.create().catch(() => undefined),
      // Where numbers are held, nothing happens without its sender's knowledge.
      faults: () => (stage.isExact ? exactFaults : faults),
      isDeathless: () => stage.isExact,
      end: () => atEnd(stage),
    },
    shape,
  );
}
