import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, ContainerStatus, PodSpec } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { type PodWorld, withPods } from './pod-world.fixture.ts';

function container(name: string, steps: readonly string[], extra: Partial<Container> = {}): Container {
  return { name, image: 'localhost/test/guest:1', args: steps, ...extra };
}

async function run(world: PodWorld, name: string, spec: Partial<PodSpec>): Promise<void> {
  await world.create(resources.pods, name, { spec: { containers: [], nodeName: 'here', ...spec } });
}

async function statusesOf(world: PodWorld, name: string): Promise<readonly ContainerStatus[]> {
  const { status } = await world.get(resources.pods, name);
  return status?.containerStatuses ?? [];
}

async function messagesOf(world: PodWorld, reason: string): Promise<readonly unknown[]> {
  const { items } = await world.client.list(resources.events, { namespace: 'default' });
  return items.filter((event) => event['reason'] === reason).map((event) => event['message']);
}

describe('what is told of a pod', () => {
  it('is what its containers left behind, or the end of their log, also after its volumes have gone', () =>
    withPods(async (world) => {
      const log = { terminationMessagePolicy: 'FallbackToLogsOnError' };
      await run(world, 'pod', {
        restartPolicy: 'Never',
        containers: [
          container('written', ['append /dev/termination-log in the file', 'exit 4'], log),
          container('logged', ['print the reason', 'exit 3'], log),
          container('silent', ['print the reason', 'exit 3']),
          container('well', ['print all is well', 'exit 0'], log),
        ],
      });
      const words = async (): Promise<readonly unknown[]> =>
        (await statusesOf(world, 'pod')).map(({ state }) => state?.terminated?.message);
      await world.until(() => world.volumeHost.pods.size === 0 && world.host.containers.size === 4);
      await world.until(async () => (await world.get(resources.pods, 'pod')).status?.phase === 'Failed');
      const told = ['in the file\n', 'the reason\n', undefined, undefined];
      assert.deepEqual(await words(), told);
      await world.restartAgent();
      await run(world, 'later', { containers: [container('a', ['stay'])] });
      await world.until(async () => (await statusesOf(world, 'later'))[0]?.ready === true);
      assert.deepEqual(await words(), told);
    }));

  it('is that a check has failed, and its end has the time that the check gives', () =>
    withPods(async (world) => {
      const exec = { command: ['/guest', 'exit 1'] };
      const livenessProbe = { exec, failureThreshold: 1, terminationGracePeriodSeconds: 1 };
      await run(world, 'pod', {
        terminationGracePeriodSeconds: 86_400,
        containers: [container('a', ['deaf', 'stay'], { livenessProbe })],
      });
      await world.until(async () => ((await statusesOf(world, 'pod'))[0]?.restartCount ?? 0) > 1);
      assert.deepEqual(
        new Set(await messagesOf(world, 'Killing')),
        new Set(['Container a failed liveness probe, will be restarted']),
      );
      assert.match(
        String((await messagesOf(world, 'BackOff'))[0]),
        /^Back-off restarting failed container a in pod pod_default\(/,
      );
    }));

  it('is why a start is refused; it is tried again after a rest, whatever is announced meanwhile', () =>
    withPods(async (world) => {
      const times: number[] = [];
      world.containers.startContainer = ({ sandboxId }) => {
        times.push(world.clock.now());
        world.host.announce(sandboxId);
        return Promise.reject(new StatusError({ reason: 'BadRequest', message: 'no such user' }));
      };
      await run(world, 'pod', { containers: [container('a', ['stay'])] });
      await world.until(() => times.length === 3);
      const [first = 0, second = 0, third = 0] = times;
      assert.deepEqual([second - first, third - second], [10_000, 10_000]);
      assert.deepEqual((await statusesOf(world, 'pod'))[0]?.state, {
        waiting: { reason: 'CreateContainerError', message: 'no such user' },
      });
    }));
});
