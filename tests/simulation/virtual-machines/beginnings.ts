import { findComplaints } from './goals.ts';
import { claimNames, machineNames } from './kinds.ts';
import { Stage } from './stage.ts';

/** How many there are; a process makes each at its first use. */
export const beginningCount = 64;
/** Seeds of beginnings are not those of schedules. */
const firstSeed = 2 ** 31;

const made = new Map<number, Promise<Stage>>();

/**
 * What there is before a short run: machines, volumes, snapshots and images in the state in which users have left them, everything at
 * rest, and no program running. To get there takes longer than the run, so many runs begin with the same. `undefined`: nothing is
 * there. @throws Error when a beginning is not what it should be, which is a finding of its own
 */
export async function beginningOf(index: number): Promise<Stage | undefined> {
  if (index === 0) return undefined;
  let stage = made.get(index);
  if (!stage) {
    stage = make(index);
    made.set(index, stage);
  }
  return stage;
}

async function make(index: number): Promise<Stage> {
  const stage = new Stage({ seed: firstSeed + index, isLean: true });
  const { users, simulation } = stage;
  const { random } = simulation;
  stage.isCoarse = true;
  await stage.start();
  const machines = index % 4 === 0 ? 2 : 1;
  users.furnish(claimNames.slice(0, machines), machineNames.slice(0, machines));
  await rest(stage);
  for (let left = index % 2 === 0 ? 0 : 2 + random.integer(5); left > 0; left--) {
    users.act();
    if (random.integer(3) === 0) stage.world.guests.write();
    await rest(stage);
  }
  await stage.converge(() => findComplaints(stage.facts));
  await simulation.stop();
  const { complaints } = stage.outcome();
  if (complaints.length > 0)
    throw new Error(`beginning ${index} does not come to rest: ${complaints.join('; ')}`);
  return stage;
}

async function rest(stage: Stage): Promise<void> {
  await stage.quiesce();
  stage.simulation.pass();
  await stage.quiesce();
}
