import { it } from 'node:test';
import { resources } from '@sheaf/client';
import { register } from './register.ts';
import { fails, labels, runs, succeeds, template, WorkloadWorld } from './workload-world.fixture.ts';

it('all controllers work beside each other', () =>
  WorkloadWorld.run(register, async (world) => {
    const fates = [fails, succeeds, runs];
    world.fate = (pod) => (fates.shift() ?? runs)(pod);
    const spec = { replicas: 3, selector: { matchLabels: labels }, template: template() };
    await world.create(resources.replicaSets, 'web', { spec });
    await world.until(
      async () => (await world.get(resources.replicaSets, 'web')).status?.readyReplicas === 3,
    );
  }));
