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

  it('is a restart where a rule about the exit code says so, and its end with another code', () =>
    withPods(async (world) => {
      const again = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };
      const rules = { restartPolicy: 'Never', restartPolicyRules: [again] };
      await run(world, 'pod', { restartPolicy: 'Never', containers: [container('a', ['stay'], rules)] });
      const isRunning = async (count: number): Promise<boolean> => {
        const [status] = await statusesOf(world, 'pod');
        return status?.state?.running !== undefined && status.restartCount === count;
      };
      await world.until(() => isRunning(0));
      world.exit('pod', 'a', 42);
      await world.until(() => isRunning(1));
      world.exit('pod', 'a', 1);
      await world.until(async () => (await world.get(resources.pods, 'pod')).status?.phase === 'Failed');
      assert.equal((await statusesOf(world, 'pod'))[0]?.restartCount, 1);
    }));

  it('is that it is not ready while a hook takes its time: nothing else of it begins, and other pods go on', () =>
    withPods(async (world) => {
      const hook = { lifecycle: { postStart: { sleep: { seconds: 900 } } } };
      const slow = Array.from({ length: 10 }, (_, index) => `slow-${index}`);
      for (const name of slow)
        await run(world, name, { containers: [container('a', ['stay'], hook), container('b', ['stay'])] });
      await run(world, 'quick', { containers: [container('a', ['stay'])] });
      const begunMs = world.clock.now();
      await world.until(async () => (await statusesOf(world, 'quick'))[0]?.ready === true);
      await world.until(async () => (await statusesOf(world, 'slow-9'))[0]?.state?.running !== undefined);
      assert.ok(world.clock.now() - begunMs < 900_000);
      const [first, second] = await statusesOf(world, 'slow-9');
      assert.deepEqual([first?.ready, first?.started, second?.state?.running], [false, false, undefined]);
      await world.until(async () => (await statusesOf(world, 'slow-9')).every(({ ready }) => ready));
      assert.ok(world.clock.now() - begunMs >= 900_000);
      assert.deepEqual(await messagesOf(world, 'FailedPostStartHook'), []);
    }));

  it('is checked where it listens, from the first time on', () =>
    withPods(async (world) => {
      const asked: string[] = [];
      world.checks.tcp = ({ host, port }) => {
        asked.push(`${host}:${port}`);
        return Promise.resolve({ isHealthy: true });
      };
      const readinessProbe = { tcpSocket: { port: 80 } };
      const containers = [container('a', ['stay'], { readinessProbe })];
      await run(world, 'pod', { containers });
      await run(world, 'host', { containers, hostNetwork: true });
      await world.until(() => asked.length >= 4);
      const { status } = await world.get(resources.pods, 'pod');
      assert.deepEqual(new Set(asked), new Set([`${status?.podIP}:80`, '192.0.2.1:80']));
    }));

  it('is that an image was changed: its container comes back with the other one', () =>
    withPods(async (world) => {
      await run(world, 'pod', { containers: [container('a', ['stay'])] });
      await world.until(async () => (await statusesOf(world, 'pod'))[0]?.ready === true);
      world.addRemoteImage('registry.example/other:2');
      const pod = await world.get(resources.pods, 'pod');
      const containers = pod.spec.containers.map((each) => ({ ...each, image: 'registry.example/other:2' }));
      await world.client.update(resources.pods, { ...pod, spec: { ...pod.spec, containers } });
      await world.until(async () => {
        const [status] = await statusesOf(world, 'pod');
        return status?.restartCount === 1 && status.ready;
      });
      assert.deepEqual(await messagesOf(world, 'Killing'), [
        'Container a definition changed, will be restarted',
      ]);
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
