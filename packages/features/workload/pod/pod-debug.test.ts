import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, ContainerStatus, EphemeralContainer } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { type PodWorld, withPods } from './pod-world.fixture.ts';

function container(name: string, steps: readonly string[], extra: Partial<Container> = {}): Container {
  return { name, image: 'localhost/test/guest:1', args: steps, ...extra };
}

const place = { namespace: 'default', name: 'pod' };

async function begin(world: PodWorld, containers: readonly Container[]): Promise<void> {
  await world.create(resources.pods, 'pod', {
    spec: { containers, nodeName: 'here', restartPolicy: 'Always' },
  });
}

async function lookWith(
  world: PodWorld,
  ...ephemeralContainers: readonly EphemeralContainer[]
): Promise<void> {
  await world.client.patch(resources.pods, place, {
    type: 'strategic',
    subresource: 'ephemeralcontainers',
    body: { spec: { ephemeralContainers } } as never,
  });
}

async function seen(world: PodWorld): Promise<readonly ContainerStatus[]> {
  return (await world.get(resources.pods, 'pod')).status?.ephemeralContainerStatuses ?? [];
}

async function isReady(world: PodWorld): Promise<boolean> {
  const { status } = await world.get(resources.pods, 'pod');
  return status?.containerStatuses?.every(({ ready }) => ready) === true;
}

/** The first line. */
function printedBy(world: PodWorld, name: string): string {
  const [, log] = [...world.host.logs].find(([id]) => id.includes(`_${name}_`)) ?? [];
  return Buffer.from(log?.lines[0]?.content ?? []).toString();
}

describe('a container that is put into a pod to look into it', () => {
  it('runs once, sees the processes of another one, and its end is no business of the pod', () =>
    withPods(async (world) => {
      await begin(world, [container('a', ['stay'])]);
      await world.until(() => isReady(world));
      const look = container('look', ['processes', 'exit 3']);
      await lookWith(world, { ...look, targetContainerName: 'a' }, container('stays', ['stay']));
      await world.until(async () => (await seen(world))[0]?.state?.terminated !== undefined);
      const [ended, stays] = await seen(world);
      assert.deepEqual([ended?.state?.terminated?.exitCode, ended?.restartCount], [3, 0]);
      assert.ok(stays?.state?.running);
      assert.equal(printedBy(world, 'look'), '2');
      const { status } = await world.get(resources.pods, 'pod');
      assert.deepEqual([status?.phase, await isReady(world)], ['Running', true]);
      await world.client.delete(resources.pods, place);
      await world.until(async () => (await world.pods()).length === 0);
      assert.equal(world.host.containers.size, 0);
    }));

  it('runs where nothing else does yet, and says what it cannot find', () =>
    withPods(async (world) => {
      const hook = { lifecycle: { postStart: { sleep: { seconds: 100_000 } } } };
      await begin(world, [container('a', ['stay'], hook), container('b', ['stay'])]);
      await world.until(() => world.host.containers.size === 1);
      await lookWith(world, container('look', ['stay']), {
        ...container('lost', ['stay']),
        targetContainerName: 'b',
      });
      await world.until(async () => (await seen(world))[0]?.state?.running !== undefined);
      await world.until(async () => (await seen(world))[1]?.state?.waiting?.message !== undefined);
      assert.deepEqual((await seen(world))[1]?.state?.waiting, {
        reason: 'CreateContainerConfigError',
        message: 'unable to find target container "b": it does not run now',
      });
    }));
});
