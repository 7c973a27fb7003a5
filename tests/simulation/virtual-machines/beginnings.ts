import { Beginnings } from '../beginnings.ts';
import { claimNames, machineNames } from './kinds.ts';
import { MachineStage } from './stage.ts';

export const beginningCount = 64;

/** Machines, volumes, snapshots and images in the state in which users have left them, everything at rest. */
const beginnings = new Beginnings(async (seed, index) => {
  const stage = new MachineStage({ seed, isLean: true });
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
  await stage.converge();
  return stage;
});

/** What there is before a short run; `undefined`: nothing is there. */
export async function beginningOf(index: number): Promise<MachineStage | undefined> {
  return index === 0 ? undefined : beginnings.of(index);
}

async function rest(stage: MachineStage): Promise<void> {
  await stage.quiesce();
  stage.simulation.pass();
  await stage.quiesce();
}
