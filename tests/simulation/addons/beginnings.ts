import { Beginnings } from '../beginnings.ts';
import { addonNames } from './kinds.ts';
import { AddonStage } from './stage.ts';

/** What has become of an add-on before a run. */
type Story = (stage: AddonStage, name: string) => Promise<void>;

const stories: readonly Story[] = [
  () => Promise.resolve(),
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
  async (stage, name) => {
    await stage.users.setEnabled(name, true);
    await toWork(stage);
  },
  async (stage, name) => {
    await deploy(stage, name);
    await stage.users.changeValues(name);
    await toWork(stage);
  },
  async (stage, name) => {
    await deploy(stage, name);
    await stage.users.setEnabled(name, false);
    await toWork(stage);
  },
];

/** Of so many beginnings of each story one is of both add-ons. */
const pairRarity = 4;
export const beginningCount = pairRarity * stories.length;

/** One add-on, or both, in the state in which users have left it; some in the middle of an operation. */
const beginnings = new Beginnings(async (seed, index) => {
  const stage = new AddonStage({ seed });
  stage.isCoarse = true;
  await stage.start();
  for (const name of index % pairRarity === 0 ? addonNames : addonNames.slice(0, 1)) {
    await stage.users.make(name);
    await stories[Math.floor(index / pairRarity)]?.(stage, name);
  }
  return stage;
});

/** What there is before a run. */
export function beginningOf(index: number): Promise<AddonStage> {
  return beginnings.of(index);
}

/** Until Helm is in the middle of it. */
async function toWork(stage: AddonStage): Promise<void> {
  await stage.quiesce();
  while (!stage.world.isAtWork) {
    await stage.world.finishAll();
    await stage.quiesce();
  }
}

async function deploy(stage: AddonStage, name: string): Promise<void> {
  await stage.users.setEnabled(name, true);
  await stage.converge();
}
