import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { Pod, PodSpec } from '@sheaf/api/workload/index';
import { type ResourceRef, resources } from '@sheaf/client';
import { type PodWorld, withPods } from '../pod/pod-world.fixture.ts';
import { planPressureEviction } from './eviction-plan.ts';
import { planCollection, wantedBytes } from './image-collection.ts';
import { keepImages } from './kept-images.ts';

const priorityClasses: ResourceRef<KubeObject & { readonly value: number }> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};
const signal = new AbortController().signal;
const image = 'localhost/test/guest:1';

async function run(world: PodWorld, name: string, spec: Partial<PodSpec> = {}): Promise<Pod> {
  const containers = [
    {
      name: 'c',
      image,
      args: ['stay'],
      volumeMounts: (spec.volumes ?? []).map((volume) => ({
        name: volume.name,
        mountPath: `/${volume.name}`,
      })),
    },
  ];
  const made = await world.create(resources.pods, name, { spec: { containers, nodeName: 'here', ...spec } });
  await world.until(async () => (await world.get(resources.pods, name)).status?.phase === 'Running');
  return made;
}

function addImage(world: PodWorld, name: string, bytes: number): string {
  const id = `sha256:${Buffer.from(name.padEnd(32, '.')).toString('hex')}`;
  const content = { user: '', entryPoint: ['/guest'], arguments: [], createdAt: 0 };
  return world.host.addImage(name, { id, bytes, ...content }).id;
}

/** A disk of 1000 on which there is nothing but images. */
function fillWithImages(world: PodWorld): void {
  world.disk = () => {
    const used = [...world.host.images.values()].reduce((sum, { bytes }) => sum + (bytes % 1000), 0);
    return { totalBytes: 1000, availableBytes: 1000 - used };
  };
}

async function eventsOf(world: PodWorld, reason: string): Promise<readonly string[]> {
  const { items } = await world.client.list(resources.events);
  return items.filter((event) => event['reason'] === reason).map((event) => String(event['message']));
}

function tags(world: PodWorld): readonly string[] {
  return [...world.host.images.values()].flatMap((each) => each.tags).toSorted();
}

async function createNode(world: PodWorld): Promise<void> {
  await world.client.create(resources.nodes, { metadata: { name: 'here' } });
  await world.client.create(resources.namespaces, { metadata: { name: 'kube-system' } });
}

describe('the room on the disk of a node', () => {
  it('images that nobody needs go when it runs low, and no more than are needed', () =>
    withPods(async (world) => {
      await createNode(world);
      addImage(world, 'r.test/small:1', 100);
      addImage(world, 'r.test/large:1', 300);
      addImage(world, 'r.test/asked:1', 200);
      addImage(world, 'bundled.test/image:1', 150);
      const imported = [...world.host.images.values()].filter(
        ({ id }) => id === addImage(world, 'r.test/hand:1', 110),
      );
      await keepImages(world.client, imported, signal);
      await run(world, 'runs');
      // No node has it yet, and it will be wanted.
      await world.create(resources.pods, 'waits', {
        spec: { containers: [{ name: 'c', image: 'r.test/asked:1' }], nodeName: 'elsewhere' },
      });
      fillWithImages(world);
      await world.until(() => !tags(world).includes('r.test/large:1'));
      assert.deepEqual(tags(world), [
        'bundled.test/image:1',
        image,
        'r.test/asked:1',
        'r.test/hand:1',
        'r.test/small:1',
      ]);
    }));

  it('an image is not taken from who may come back, and what cannot be freed is told', () =>
    withPods(async (world) => {
      await createNode(world);
      addImage(world, 'r.test/image:1', 900);
      await run(world, 'runs', { containers: [{ name: 'c', image: 'r.test/image:1', args: ['stay'] }] });
      fillWithImages(world);
      await world.until(async () => (await eventsOf(world, 'FreeDiskSpaceFailed')).length > 0);
      const [words = ''] = await eventsOf(world, 'FreeDiskSpaceFailed');
      assert.match(
        words,
        /^Failed to garbage collect required amount of images\. Attempted to free 100 bytes, but only found 0 bytes eligible to free; make room: /,
      );
      assert.ok(tags(world).includes('r.test/image:1'));
      await world.client.delete(resources.pods, { namespace: 'default', name: 'runs' });
      const before = world.clock.monotonic();
      await world.until(() => !tags(world).includes('r.test/image:1'));
      assert.ok(world.clock.monotonic() - before >= 120_000);
    }));

  it('under pressure the pod that takes more than it asked for is ended, with the reason, and gives back its room', () =>
    withPods(async (world) => {
      await createNode(world);
      const volumes = [{ name: 'scratch', emptyDir: {} }];
      const large = await run(world, 'large', { volumes });
      await world.client.create(priorityClasses, {
        metadata: { name: 'system-node-critical' },
        value: 2_000_001_000,
      });
      const critical = await run(world, 'critical', { volumes, priorityClassName: 'system-node-critical' });
      await run(world, 'small', { volumes });
      const write = (pod: Pod | undefined, bytes: number): void =>
        world.volumeHost.write(
          `${world.volumeHost.place(pod?.metadata.uid ?? '', 'scratch')}/file`,
          'x'.repeat(bytes),
        );
      write(large, 4000);
      write(critical, 9000);
      write(await world.get(resources.pods, 'small'), 10);
      world.disk = () => {
        const used = [...world.volumeHost.files.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
        return { totalBytes: 14_000, availableBytes: Math.max(0, 14_000 - used) };
      };
      await world.until(async () => (await world.get(resources.pods, 'large')).status?.phase === 'Failed');
      const message =
        'The node was low on resource: ephemeral-storage. Threshold quantity: 1400, available: 990. Its emptyDir volumes were using 4000, request is 0.';
      const { status } = await world.get(resources.pods, 'large');
      assert.deepEqual(
        [
          status?.reason,
          status?.message,
          status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason,
        ],
        ['Evicted', message, 'TerminationByKubelet'],
      );
      await world.until(() => (world.disk()?.availableBytes ?? 0) > 4000);
      await world.until(async () => (await eventsOf(world, 'Evicted')).length > 0);
      for (const name of ['small', 'critical'])
        assert.equal((await world.get(resources.pods, name)).status?.phase, 'Running');
      assert.equal((await eventsOf(world, 'EvictionThresholdMet')).length, 1);
    }));

  it('a pod that fills a directory beyond its limit is ended, whatever room there is', () =>
    withPods(async (world) => {
      await createNode(world);
      const volumes = [{ name: 'scratch', emptyDir: { sizeLimit: '1Ki' } }];
      const pod = await run(world, 'pod', { volumes });
      world.volumeHost.write(
        `${world.volumeHost.place(pod.metadata.uid ?? '', 'scratch')}/file`,
        'x'.repeat(1025),
      );
      await world.until(async () => (await world.get(resources.pods, 'pod')).status?.phase === 'Failed');
      const { status } = await world.get(resources.pods, 'pod');
      assert.deepEqual(
        [status?.reason, status?.message],
        ['Evicted', 'Usage of EmptyDir volume "scratch" exceeds the limit "1Ki".'],
      );
    }));
});

describe('what goes first', () => {
  it('images: unused for the longest, then the largest, until it is enough', () => {
    const old = { id: 'old', bytes: 10, unusedMs: 500_000 };
    const images = [
      { id: 'young', bytes: 1000, unusedMs: 1000 },
      { id: 'used', bytes: 1000 },
      { id: 'small', bytes: 10, unusedMs: 200_000 },
      { id: 'large', bytes: 50, unusedMs: 200_000 },
      old,
    ];
    const idsFor = (bytes: number): readonly string[] => planCollection(images, bytes).map(({ id }) => id);
    assert.deepEqual(
      [idsFor(0), idsFor(10), idsFor(11), idsFor(1000)],
      [[], ['old'], ['old', 'large'], ['old', 'large', 'small']],
    );
    assert.equal(wantedBytes({ totalBytes: 1000, availableBytes: 100 }), 100);
  });

  it('pods: one at a time, and none whose end gives nothing back', () => {
    const room = { totalBytes: 1000, availableBytes: 10 };
    const pod = (name: string, priority = 0): Pod => ({
      metadata: { name },
      spec: { containers: [], priority },
    });
    const use = (name: string, bytes: number, priority = 0) => ({
      pod: pod(name, priority),
      bytes: new Map([['v', bytes]]),
      isThere: true,
    });
    const chosen = (...uses: Parameters<typeof planPressureEviction>[0]): string | undefined =>
      planPressureEviction(uses, room)?.pod.metadata.name;
    assert.equal(chosen(use('nothing', 0)), undefined);
    assert.equal(chosen(use('a', 1), use('b', 2)), 'b');
    assert.equal(chosen(use('a', 1), use('b', 2, 10)), 'a');
    const gone: Pod = { ...pod('gone'), status: { phase: 'Failed' } };
    assert.equal(chosen(use('a', 1), { pod: gone, bytes: new Map(), isThere: true }), undefined);
    assert.equal(chosen(use('a', 1), { pod: gone, bytes: new Map(), isThere: false }), 'a');
    assert.equal(planPressureEviction([use('a', 1)], { totalBytes: 1000, availableBytes: 100 }), undefined);
  });
});
