import { allDeaths, allFaults, runCourse, type Shape } from '../course.ts';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { beginningCount, beginningOf } from './beginnings.ts';
import { claimNames, machineNames } from './kinds.ts';
import { MachineStage, type StageOptions } from './stage.ts';

type Furnish = (stage: MachineStage) => Promise<void>;

const usual = { furnished: 0, outlastsUse: false, eventRarity: 4, waysToDie: allDeaths };

/** Long runs of both machines in two namespaces, on the API server itself. */
const rich: Shape = {
  ...usual,
  actions: [10, 30],
  pace: [4, 44],
  deaths: 3,
  deathRarity: 12,
  readingSteps: 250,
  fineRarity: 1,
  clearRarity: 1,
};

/** Short runs of a machine or two. Most defects need few things to happen: many short runs find more in an hour than few long ones. */
const light: Shape = {
  ...usual,
  actions: [1, 4],
  pace: [3, 14],
  deaths: 2,
  deathRarity: 6,
  fineRarity: 8,
  clearRarity: 8,
};

/** One run of virtual machines, their volumes and images under random use and faults, decided by its seed. */
export function runSchedule(options: StageOptions): Promise<Outcome> {
  return runShape(rich, options, furnishAll);
}

export async function runLightSchedule(options: ScheduleOptions): Promise<Outcome> {
  const beginning = await beginningOf(options.seed % beginningCount);
  return runShape(light, { ...options, isLean: true, beginning }, furnishFew);
}

function runShape(shape: Shape, options: StageOptions, furnish: Furnish): Promise<Outcome> {
  const stage = new MachineStage(options);
  const begin = async (): Promise<void> => {
    await stage.start();
    await furnish(stage);
  };
  return runCourse({ stage, begin, faults: () => allFaults }, shape);
}

/** In most runs there are machines when things begin to go wrong; in most of these they run by then. */
async function furnishAll({ simulation, users, quiesce }: MachineStage): Promise<void> {
  const chance = simulation.random.integer(6);
  if (chance === 0) return;
  users.furnish();
  for (let passes = chance === 1 ? 0 : 8; passes > 0; passes--) {
    await quiesce();
    simulation.pass();
  }
}

/** What there is, is there already; now and then users begin something of their own. */
async function furnishFew({ simulation, users, settle }: MachineStage): Promise<void> {
  if (simulation.random.integer(6) > 0) return;
  users.furnish(claimNames.slice(0, 1), machineNames.slice(0, 1));
  await settle();
}
