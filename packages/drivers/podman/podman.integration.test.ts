import { after } from 'node:test';
import { testContainers } from '@sheaf/ports/containers/containers.contract';
import { PodmanWorld, podmanIsMissing } from './podman-world.fixture.ts';

/** One for all tests: it is empty before each of them. */
let made: Promise<PodmanWorld> | undefined;

after(async () => {
  await (await made)?.dispose();
});

testContainers({
  driver: 'podman',
  skip: podmanIsMissing,
  withWorld: async (use) => {
    made ??= PodmanWorld.make();
    const world = await made;
    try {
      await use(world);
    } finally {
      await world.clear();
    }
  },
});
