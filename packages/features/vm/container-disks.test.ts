import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerVolumeId } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import type { ContainerDiskOrder, ContainerDisks } from '@sheaf/ports';
import { rawDisk, signal } from '@sheaf/ports/disk-bench.fixture';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import {
  openSimulatedDisk,
  SimulatedContainers,
  SimulatedMedium,
  SimulatedRegistry,
} from '@sheaf/testkit/volumes/index';
import {
  type ContainerDiskFact,
  readContainerDisks,
  removeContainerVolumes,
  sweepContainerDisks,
} from './container-disks.ts';
import type { ContainerDiskSource } from './instance-spec.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

const image = 'registry.test/disks/fedora:43';

function instanceOf(source: ContainerDiskSource, uid = 'run-1'): VirtualMachineInstance {
  return {
    metadata: { namespace: 'default', name: 'a', uid },
    spec: { domain: { devices: {} }, volumes: [{ name: 'root', containerDisk: source }] },
  };
}

async function world() {
  const clock = new TestClock();
  const { volumes, images } = openSimulatedDisk({
    medium: new SimulatedMedium(),
    clock,
    random: new SeededRandom(1),
  });
  const registry = new SimulatedRegistry();
  const orders: ContainerDiskOrder[] = [];
  const simulated = new SimulatedContainers(images, registry);
  const disks: ContainerDisks = {
    capability: () => simulated.capability(),
    onChange: (listener) => simulated.onChange(listener),
    keepOnly: (references, until) => simulated.keepOnly(references, until),
    fetch(order, until) {
      orders.push(order);
      return simulated.fetch(order, until);
    },
  };
  const server = await startTestServer({ clock });
  const { client } = server;
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const parts = { client, containers: { disks, volumes } };
  const look = async (instance: VirtualMachineInstance, isStarted = false): Promise<ContainerDiskFact> => {
    const facts = await readContainerDisks(parts, { instance, isStarted }, signal);
    return facts.get('root') ?? assert.fail('nothing is known of it');
  };
  const untilReady = async (instance: VirtualMachineInstance): Promise<string> => {
    let fact: ContainerDiskFact | undefined;
    await settle({
      clock,
      until: async () => {
        fact = await look(instance);
        return fact.state === 'ready';
      },
    });
    return fact?.state === 'ready' ? fact.file.path : assert.fail('it is not ready');
  };
  return { client, registry, orders, volumes, images, parts, look, untilReady, close: () => server.close() };
}

async function inWorld(use: (given: Awaited<ReturnType<typeof world>>) => Promise<void>): Promise<void> {
  const given = await world();
  try {
    await use(given);
  } finally {
    await given.close();
  }
}

describe('disks in container images', () => {
  it('are fetched once, and each run writes to a volume of its own that goes with it', () =>
    inWorld(async ({ registry, untilReady, volumes, images, parts }) => {
      registry.push(image, { '/disk/fedora.img': rawDisk(1, 2) });
      const [first, second] = [instanceOf({ image }), instanceOf({ image }, 'run-2')];
      const file = await untilReady(first);
      assert.notEqual(await untilReady(second), file);
      assert.deepEqual([registry.lookups, (await images.list(signal)).length], [1, 1]);
      assert.equal(await untilReady(first), file);
      await removeContainerVolumes(parts.containers, first, signal);
      const left = (await volumes.list(signal)).map(({ id }) => id);
      assert.deepEqual(left, [containerVolumeId('run-2', 'root')]);
      await sweepContainerDisks(parts.containers, { machines: () => [], instances: () => [] }, signal);
      assert.deepEqual([await volumes.list(signal), await images.list(signal)], [[], []]);
    }));

  it('say why they cannot be had', () =>
    inWorld(async ({ look, client, orders, parts }) => {
      const told = async (source: ContainerDiskSource, isStarted = false): Promise<readonly unknown[]> => {
        const fact = await look(instanceOf(source), isStarted);
        if (fact.state === 'ready') return ['ready'];
        const { reason, nature, text } = fact.waiting;
        return [reason, nature, text];
      };
      assert.deepEqual(await told({ image }), [
        'ErrImagePull',
        'fault',
        `The container image ${image}: ${image}: manifest unknown`,
      ]);
      assert.deepEqual(
        (await told({ image, imagePullSecret: 'key' }))[2],
        'The Secret key for its registry is not there',
      );
      await client.create(resources.secrets, { metadata: { namespace: 'default', name: 'key' }, data: {} });
      assert.deepEqual(
        (await told({ image, imagePullSecret: 'key' }))[2],
        'The Secret key is none for registries',
      );
      assert.equal(orders.length, 1);
      assert.equal((await told({ image }, true))[0], 'VolumePreparing');
      const without = await readContainerDisks(
        { client: parts.client },
        { instance: instanceOf({ image }), isStarted: false },
        signal,
      );
      assert.match(JSON.stringify(without.get('root')), /cannot be had on this host/);
    }));

  it('are asked for as their machine says', () =>
    inWorld(async ({ look, client, orders }) => {
      const config = Buffer.from('{"auths":{"registry.test":{"auth":"x"}}}').toString('base64');
      await client.create(resources.secrets, {
        metadata: { namespace: 'default', name: 'key' },
        type: 'kubernetes.io/dockerconfigjson',
        data: { '.dockerconfigjson': config },
      });
      for (const source of [
        { image: 'a/b' },
        { image: 'a/b:latest' },
        { image: 'a:5000/b:1' },
        { image: 'a:5000/b' },
        { image: `a/b@sha256:${'0'.repeat(64)}` },
        { image: 'a/b:1', imagePullPolicy: 'Never', path: '/x.img', imagePullSecret: 'key' },
      ] as const)
        await look(instanceOf(source));
      assert.deepEqual(
        orders.map(({ policy, path, occasion, access }) => [
          policy,
          path,
          occasion,
          access.credentials?.[0]?.reveal(),
        ]),
        [
          ['Always', undefined, 'run-1', undefined],
          ['Always', undefined, 'run-1', undefined],
          ['IfNotPresent', undefined, 'run-1', undefined],
          ['Always', undefined, 'run-1', undefined],
          ['IfNotPresent', undefined, 'run-1', undefined],
          ['Never', '/x.img', 'run-1', '{"auths":{"registry.test":{"auth":"x"}}}'],
        ],
      );
    }));
});
