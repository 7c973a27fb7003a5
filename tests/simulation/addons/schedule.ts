import { allFaults, runCourse, type Shape } from '../course.ts';
import type { Outcome } from '../subjects.ts';
import { beginningCount, beginningOf } from './beginnings.ts';
import { AddonStage, type StageOptions } from './stage.ts';

/** Short runs: most defects need few things to happen. */
const shape: Shape = {
  actions: [1, 3],
  furnished: 0,
  outlastsUse: true,
  pace: [4, 24],
  quietPace: 3,
  eventRarity: 1,
  deathRarity: 8,
  deaths: 2,
  waysToDie: ['controllers', 'server'],
  fineRarity: 16,
  clearRarity: 6,
};

/** Of 100 ends of an operation, so many are failures, in one of these runs each, */
const failures = [30, 100];
/** until so many of them have failed: the last is what brings an operation to its end for good. */
const failureCounts = [0, 1, 2, 7];

/** One run of add-ons under random use and faults, decided by its seed. */
export async function runSchedule(options: StageOptions): Promise<Outcome> {
  const beginning = await beginningOf(options.seed % beginningCount);
  const stage = new AddonStage({ ...options, beginning });
  const { simulation, world } = stage;
  const pick = (numbers: readonly number[]): number =>
    numbers[simulation.random.integer(numbers.length)] ?? 0;
  return runCourse(
    {
      stage,
      begin: () => stage.start(),
      faults: () => allFaults,
      disturb() {
        world.failures = pick(failures);
        world.failuresLeft = pick(failureCounts);
      },
    },
    shape,
  );
}
