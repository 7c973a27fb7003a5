import { addonNames } from './kinds.ts';
import { AddonStage } from './stage.ts';

/** What has become of add-ons before a run. */
type Story = (stage: AddonStage, name: string) => Promise<void>;

const stories: readonly Story[] = [
  deploy,
  deploy,
  async (stage, name) => {
    await deploy(stage, name);
    await stage.users.setEnabled(name, false);
    await stage.converge();
  },
  async (stage, name) => {
    // What this failure asks for does not pass by itself.
    stage.world.lasting = 65;
    await deploy(stage, name);
    stage.world.lasting = undefined;
  },
];

/** Of so many beginnings of each story one is of both add-ons. */
const pairRarity = 4;
/** The first story is that nothing has happened yet; a process makes each beginning at its first use. */
export const beginningCount = pairRarity * (stories.length + 1);
/** Seeds of beginnings are not those of schedules. */
const firstSeed = 2 ** 31;

const made = new Map<number, Promise<AddonStage>>();

/**
 * What there is before a run: one add-on, or both, in the state in which users have left it, everything at rest, and no program
 * running. To get there takes as long as the run, so many runs begin with the same.
 * @throws Error when a beginning is not what it should be, which is a finding of its own
 */
export async function beginningOf(index: number): Promise<AddonStage> {
  let stage = made.get(index);
  if (!stage) {
    stage = make(index);
    made.set(index, stage);
  }
  return stage;
}

async function make(index: number): Promise<AddonStage> {
  const story = stories[Math.floor(index / pairRarity) - 1];
  const stage = new AddonStage({ seed: firstSeed + index });
  const names = index % pairRarity === 0 ? addonNames : addonNames.slice(0, 1);
  await stage.start();
  for (const name of names) {
    await stage.users.make(name);
    await story?.(stage, name);
  }
  await stage.converge();
  await stage.simulation.stop();
  const { complaints } = stage.outcome();
  if (complaints.length > 0)
    throw new Error(`beginning ${index} does not come to rest: ${complaints.join('; ')}`);
  return stage;
}

async function deploy(stage: AddonStage, name: string): Promise<void> {
  await stage.users.setEnabled(name, true);
  await stage.converge();
}
