import { after } from 'node:test';
import { testContainers } from '@sheaf/ports/containers/containers.contract';
import { PodmanWorld, podmanIsMissing } from './podman-world.fixture.ts';

/** Longer than podman takes on its command line, and than the kernel takes for the path of a socket. */
const name = 'a-long-directory-'.repeat(8);
/** One for all tests: it is empty before each of them. */
let made: Promise<PodmanWorld> | undefined;

after(async () => {
  await (await made)?.dispose();
});

testContainers({
  driver: 'podman',
  skip: podmanIsMissing,
  withWorld: async (use) => {
    made ??= PodmanWorld.make({ name });
    const world = await made;
    try {
      await use(world);
    } finally {
      await world.clear();
    }
  },
});
