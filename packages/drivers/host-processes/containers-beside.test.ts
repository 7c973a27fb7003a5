import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainersWorld } from '@sheaf/ports/containers/containers.contract';
import { testContainers } from '@sheaf/ports/containers/containers.contract';
import { ContainersScene } from '@sheaf/ports/containers/containers-scene.fixture';
import { SimulatedContainersWorld } from '@sheaf/testkit/containers/simulated-world.fixture';
import { ContainersBeside } from './containers-beside.ts';
import { HostProgramImages } from './host-program-images.ts';
import { ImagesBeside } from './images-beside.ts';

/** Images behind the port, and beside them programs that nobody asks for; or the other way round. */
class BesideWorld extends SimulatedContainersWorld {
  readonly programs = new SimulatedContainersWorld(2);

  override open(): ReturnType<SimulatedContainersWorld['open']> {
    const images = super.open();
    const programs = this.programs.open();
    return {
      containers: new ContainersBeside({ images: images.containers, programs: programs.containers }),
      images: new ImagesBeside({ images: images.images, programs: new HostProgramImages([]) }),
    } as unknown as ReturnType<SimulatedContainersWorld['open']>;
  }
}

testContainers({
  driver: 'images beside programs',
  withWorld: (use: (world: ContainersWorld) => Promise<void>) => use(new BesideWorld()),
});

test('a pod for programs is theirs alone, and is found among all', async () => {
  const world = new BesideWorld();
  const scene = new ContainersScene(world);
  const { containers, signal } = scene;
  await scene.sandbox('images');
  await scene.sandbox('programs', { isForPrograms: true });
  assert.deepEqual([...world.host.sandboxes.keys()], ['images']);
  assert.deepEqual([...world.programs.host.sandboxes.keys()], ['programs']);
  const ids = (await containers.listSandboxes(signal)).map(({ id }) => id);
  assert.deepEqual(ids.toSorted(), ['images', 'programs']);
  const spec = await scene.spec('one', ['stay'], { sandboxId: 'programs' });
  await containers.startContainer(spec, signal);
  assert.deepEqual([...world.programs.host.containers.keys()], ['one']);
  assert.equal((await scene.find('one')).state, 'running');
  await containers.endSandbox('programs', signal);
  await containers.removeSandbox('programs', signal);
  assert.deepEqual(
    (await containers.listSandboxes(signal)).map(({ id }) => id),
    ['images'],
  );
});
