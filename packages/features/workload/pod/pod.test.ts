import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { Container, ContainerStatus, Pod, PodSpec } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import type { PodWorld } from './pod-world.fixture.ts';
import { withPods } from './pod-world.fixture.ts';

function container(name: string, steps: readonly string[], extra: Partial<Container> = {}): Container {
  return { name, image: 'localhost/test/guest:1', args: steps, ...extra };
}

async function run(world: PodWorld, name: string, spec: Partial<PodSpec>): Promise<void> {
  await world.create(resources.pods, name, { spec: { containers: [], nodeName: 'here', ...spec } });
}

const podOf = (world: PodWorld, name = 'pod'): Promise<Pod> => world.get(resources.pods, name);

async function statusOf(world: PodWorld, name: string): Promise<ContainerStatus | undefined> {
  const { status } = await podOf(world);
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find(
    (each) => each.name === name,
  );
}

async function isReady(world: PodWorld): Promise<boolean> {
  const { status } = await podOf(world);
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}

describe('a pod', () => {
  it('whose volumes are in use stays, says why, and goes when they are not', () =>
    withPods(async (world) => {
      const containers = [container('c', ['stay'], { volumeMounts: [{ name: 'tmp', mountPath: '/t' }] })];
      await run(world, 'pod', { containers, volumes: [{ name: 'tmp', emptyDir: {} }] });
      await world.until(() => isReady(world));
      world.volumeHost.isBusy = true;
      const place = { namespace: 'default', name: 'pod' };
      await world.client.delete(resources.pods, place);
      await world.until(async () => {
        const { items } = await world.client.list(resources.events, { namespace: 'default' });
        return items.some(
          (event) =>
            event['reason'] === 'FailedUnMount' &&
            String(event['message']).includes('a process still uses it'),
        );
      });
      assert.equal((await world.pods()).length, 1);
      world.volumeHost.isBusy = false;
      await world.until(async () => (await world.pods()).length === 0);
    }));

  it('runs its containers, and tells how they are', () =>
    withPods(async (world) => {
      await run(world, 'pod', { containers: [container('a', ['stay']), container('b', ['stay'])] });
      await world.until(() => isReady(world));
      const { status } = await podOf(world);
      assert.equal(status?.phase, 'Running');
      assert.match(status.podIP ?? '', /^10\.42\./);
      assert.deepEqual(
        status.containerStatuses?.map(({ name, ready, started, restartCount }) => [
          name,
          ready,
          started,
          restartCount,
        ]),
        [
          ['a', true, true, 0],
          ['b', true, true, 0],
        ],
      );
      await world.client.delete(resources.pods, { namespace: 'default', name: 'pod' });
      await world.until(async () => (await world.pods()).length === 0);
      assert.deepEqual([world.host.sandboxes.size, world.host.containers.size], [0, 0]);
    }));

  it('that is deleted before it has run has failed, for whoever keeps it until it is counted', () =>
    withPods(async (world) => {
      const place = { namespace: 'default', name: 'pod' };
      const held = { ...place, finalizers: ['example.com/count'] };
      const spec = { containers: [container('a', ['stay'], { image: 'x/y/z' })], nodeName: 'here' };
      await world.client.create(resources.pods, { metadata: held, spec });
      await world.client.delete(resources.pods, place);
      await world.until(async () => (await podOf(world)).status?.phase === 'Failed');
      await world.client.patch(resources.pods, place, {
        type: 'merge',
        body: { metadata: { finalizers: null } },
      });
      await world.until(async () => (await world.pods()).length === 0);
    }));

  it('that the server will not forget at once is asked about again', () =>
    withPods(async (world) => {
      await run(world, 'pod', { containers: [container('a', ['stay'])] });
      await world.until(() => isReady(world));
      world.refuseDeletions(2);
      await world.client.delete(resources.pods, { namespace: 'default', name: 'pod' });
      await world.until(async () => (await world.pods()).length === 0);
    }));

  it('runs the hook after a start once: what ends meanwhile does not run it again, and ends no container', () =>
    withPods(async (world) => {
      let hooks = 0;
      world.host.faults.executeFailure = () => {
        hooks++;
        return undefined;
      };
      const hook = { postStart: { exec: { command: ['/guest', 'stay'] } } };
      await run(world, 'pod', { containers: [container('a', ['stay'], { lifecycle: hook })] });
      await world.until(() => hooks === 1);
      await world.restartAgent();
      await world.until(() => isReady(world));
      assert.deepEqual([hooks, (await statusOf(world, 'a'))?.restartCount], [1, 0]);
      const { items } = await world.client.list(resources.events, { namespace: 'default' });
      assert.deepEqual(
        items.filter(({ ['reason']: reason }) => String(reason).includes('Hook')),
        [],
      );
    }));

  it('ends a container whose hook after its start fails, with the time that it may take', () =>
    withPods(async (world) => {
      const hook = { postStart: { exec: { command: ['/guest', 'exit 1'] } } };
      await run(world, 'pod', {
        restartPolicy: 'Never',
        containers: [container('a', ['stay'], { lifecycle: hook })],
      });
      await world.until(async () => (await podOf(world)).status?.phase === 'Succeeded');
      const { items } = await world.client.list(resources.events, { namespace: 'default' });
      const told = items.find(({ ['reason']: reason }) => reason === 'FailedPostStartHook');
      assert.equal(told?.['message'], 'PostStartHook failed');
    }));

  it('that is kept after its end still tells of its last runs', () =>
    withPods(async (world) => {
      const place = { namespace: 'default', name: 'pod' };
      const held = { ...place, finalizers: ['example.com/count'] };
      const spec = { containers: [container('a', ['stay'])], nodeName: 'here' };
      await world.client.create(resources.pods, { metadata: held, spec });
      await world.until(() => isReady(world));
      await world.client.delete(resources.pods, place);
      await world.until(() => world.host.sandboxes.size === 0);
      await world.until(async () => (await podOf(world)).metadata.deletionGracePeriodSeconds === 0);
      assert.notEqual((await statusOf(world, 'a'))?.state?.terminated, undefined);
    }));

  it('starts a container that ends again, later each time, and keeps its last end', () =>
    withPods(async (world) => {
      const times = new Map<number, number>();
      await run(world, 'pod', { containers: [container('a', ['exit 3'])] });
      await world.until(async () => {
        const restarts = (await statusOf(world, 'a'))?.restartCount ?? 0;
        if (!times.has(restarts)) times.set(restarts, world.clock.now());
        return restarts === 4;
      });
      const waits = [2, 3, 4].map((count) => (times.get(count) ?? 0) - (times.get(count - 1) ?? 0));
      assert.deepEqual(waits, [10_000, 20_000, 40_000]);
      await world.until(async () => (await statusOf(world, 'a'))?.state?.waiting !== undefined);
      const status = await statusOf(world, 'a');
      assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff');
      assert.match(
        status.state.waiting.message ?? '',
        /^back-off 1m20s restarting failed container=a pod=pod_default\(/,
      );
      assert.deepEqual(
        [status.lastState?.terminated?.exitCode, status.lastState?.terminated?.reason],
        [3, 'Error'],
      );
      assert.equal(world.host.containers.size, 2);
    }));

  it('ends when its containers have, as they have', () =>
    withPods(async (world) => {
      await run(world, 'pod', {
        restartPolicy: 'Never',
        containers: [container('a', ['exit 0']), container('b', ['exit 2'])],
      });
      await world.until(async () => (await podOf(world)).status?.phase === 'Failed');
      const { status } = await podOf(world);
      assert.deepEqual(
        status?.containerStatuses?.map(({ state }) => state?.terminated?.reason),
        ['Completed', 'Error'],
      );
      await run(world, 'other', { restartPolicy: 'OnFailure', containers: [container('a', ['exit 0'])] });
      await world.until(async () => (await podOf(world, 'other')).status?.phase === 'Succeeded');
    }));

  it('is told to have ended before its network has gone', () =>
    withPods(async (world) => {
      await run(world, 'pod', { restartPolicy: 'Never', containers: [container('a', ['stay'])] });
      await world.until(() => isReady(world));
      world.containers.endSandbox = async (_id, signal) => void (await once(signal, 'abort'));
      world.exit('pod', 'a', 0);
      await world.until(async () => (await podOf(world)).status?.phase === 'Succeeded');
    }));

  it('goes through its init containers in their order, with sidecars beside', () =>
    withPods(async (world) => {
      await run(world, 'pod', {
        initContainers: [
          container('first', ['exit 0']),
          container('side', ['stay'], { restartPolicy: 'Always' }),
          container('second', ['stay']),
        ],
        containers: [container('main', ['stay'])],
      });
      await world.until(async () => (await statusOf(world, 'second'))?.state?.running !== undefined);
      assert.equal((await statusOf(world, 'main'))?.state?.waiting?.reason, 'PodInitializing');
      assert.equal((await podOf(world)).status?.phase, 'Pending');
      world.exit('pod', 'second', 0);
      await world.until(() => isReady(world));
      assert.equal((await podOf(world)).status?.phase, 'Running');
    }));

  it('says what keeps it from starting, in the words that users know, and starts when it is there', () =>
    withPods(async (world) => {
      const env = [{ name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'config', key: 'color' } } }];
      await run(world, 'pod', {
        containers: [
          container('a', ['stay'], { env }),
          container('b', ['stay'], { image: 'nowhere.example/none:1' }),
        ],
      });
      await world.until(
        async () => (await statusOf(world, 'a'))?.state?.waiting?.reason === 'CreateContainerConfigError',
      );
      assert.equal((await statusOf(world, 'a'))?.state?.waiting?.message, 'configmap "config" not found');
      await world.until(
        async () => (await statusOf(world, 'b'))?.state?.waiting?.reason === 'ImagePullBackOff',
      );
      await world.until(async () => {
        const waiting = (await statusOf(world, 'b'))?.state?.waiting;
        assert.match(
          waiting?.reason ?? '',
          /^(ErrImagePull|ImagePullBackOff)$/,
          'a new try hides no failure',
        );
        return /pulled again/.test(waiting?.message ?? '');
      });
      await world.client.create(resources.configMaps, {
        metadata: { namespace: 'default', name: 'config' },
        data: { color: 'blue' },
      });
      await world.until(async () => (await statusOf(world, 'a'))?.state?.running !== undefined);
      world.addRemoteImage('nowhere.example/none:1');
      await world.until(() => isReady(world));
    }));

  it('is ready as its probes say, and is started again when one says that it is not alive', () =>
    withPods(async (world) => {
      const exec = (steps: string): { readonly exec: { readonly command: readonly string[] } } => ({
        exec: { command: ['/guest', steps] },
      });
      await run(world, 'pod', {
        containers: [
          container('a', ['stay'], {
            readinessProbe: { ...exec('exit 0'), periodSeconds: 1 },
            livenessProbe: { ...exec('exit 1'), periodSeconds: 5, failureThreshold: 2 },
          }),
        ],
      });
      await world.until(() => isReady(world));
      await world.until(async () => ((await statusOf(world, 'a'))?.restartCount ?? 0) > 0);
      const { items } = await world.client.list(resources.events, { namespace: 'default' });
      const reasons = new Set(items.map((event) => event['reason']));
      for (const reason of ['Unhealthy', 'Killing', 'Created', 'Started', 'Pulled'])
        assert.ok(reasons.has(reason), reason);
    }));

  it('runs again after a restart of the host, and what nobody knows any more goes', () =>
    withPods(async (world) => {
      await run(world, 'pod', {
        initContainers: [container('i', ['exit 0'])],
        containers: [
          container('a', ['print all is well', 'stay'], {
            terminationMessagePolicy: 'FallbackToLogsOnError',
          }),
        ],
      });
      await world.until(() => isReady(world));
      world.host.restart();
      await world.until(
        async () => (await statusOf(world, 'a'))?.restartCount === 1 && (await isReady(world)),
      );
      assert.equal((await statusOf(world, 'i'))?.restartCount, 1);
      const before = (await statusOf(world, 'a'))?.lastState?.terminated;
      assert.deepEqual(
        [before?.exitCode, before?.reason, before?.message],
        [137, 'ContainerStatusUnknown', 'the host was restarted'],
      );
      await world.client.delete(
        resources.pods,
        { namespace: 'default', name: 'pod' },
        { gracePeriodSeconds: 0 },
      );
      await world.until(() => world.host.sandboxes.size === 0);
    }));

  it('is over when its deadline is', () =>
    withPods(async (world) => {
      await run(world, 'pod', { activeDeadlineSeconds: 100, containers: [container('a', ['stay'])] });
      await world.until(() => isReady(world));
      await world.until(async () => (await podOf(world)).status?.phase === 'Failed');
      assert.equal((await podOf(world)).status?.reason, 'DeadlineExceeded');
      await world.until(() =>
        [...world.host.sandboxes.values()].every((sandbox) => sandbox.state === 'ended'),
      );
    }));
});
