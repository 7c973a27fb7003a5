import { testContainers } from '@sheaf/ports/containers/containers.contract';
import { SimulatedContainersWorld } from './simulated-world.fixture.ts';

testContainers({ driver: 'simulated', withWorld: (use) => use(new SimulatedContainersWorld()) });
