import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Condition, findCondition, type KubeObject } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { type ContentPass, conditionsOf, planConditions, planNamespace } from './plan.ts';
import { register } from './register.ts';

interface World {
  readonly client: Client;
  readonly clock: TestClock;
  readonly eventually: (claim: () => Promise<boolean>) => Promise<void>;
}

async function withNamespace(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'red' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager);
  void manager.start();
  try {
    const eventually = (claim: () => Promise<boolean>): Promise<void> => settle({ clock, until: claim });
    await run({ client, clock, eventually });
  } finally {
    await manager.stop();
    await close();
  }
}

const red = { name: 'red' };

describe('deletion of namespaces', () => {
  const isGone = async (client: Client): Promise<boolean> =>
    (await client.find(resources.namespaces, red)) === undefined;

  it('takes everything inside with it', () =>
    withNamespace(async ({ client, eventually }) => {
      for (const name of ['a', 'b']) {
        await client.create(resources.configMaps, { metadata: { name, namespace: 'red' } });
        await client.create(resources.secrets, { metadata: { name, namespace: 'red' } });
      }
      await client.delete(resources.namespaces, red);
      await eventually(() => isGone(client));
      assert.deepEqual((await client.list(resources.configMaps, { namespace: 'red' })).items, []);
      assert.deepEqual((await client.list(resources.secrets, { namespace: 'red' })).items, []);
    }));

  it('says what is left and who holds it, until it is let go', () =>
    withNamespace(async ({ client, eventually }) => {
      const metadata = { name: 'a', namespace: 'red', finalizers: ['example.com/hold'] };
      await client.create(resources.configMaps, { metadata });
      await client.delete(resources.namespaces, red);
      const said = async (type: string): Promise<Condition | undefined> =>
        findCondition(conditionsOf(await client.get(resources.namespaces, red)), type);
      await eventually(async () => (await said('NamespaceFinalizersRemaining'))?.status === 'True');
      assert.equal(
        (await said('NamespaceContentRemaining'))?.message,
        'Some resources are remaining: configmaps. has 1 resource instances',
      );
      assert.equal(
        (await said('NamespaceFinalizersRemaining'))?.message,
        'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
      );
      assert.equal((await said('NamespaceDeletionContentFailure'))?.reason, 'ContentDeleted');
      const body = { metadata: { finalizers: null } };
      await client.patch(resources.configMaps, { namespace: 'red', name: 'a' }, { type: 'merge', body });
      await eventually(() => isGone(client));
    }));

  it('is not written again while nothing changes', () =>
    withNamespace(async ({ client, clock, eventually }) => {
      const metadata = { name: 'a', namespace: 'red', finalizers: ['example.com/hold'] };
      await client.create(resources.configMaps, { metadata });
      await client.delete(resources.namespaces, red);
      await eventually(async () => conditionsOf(await client.get(resources.namespaces, red)).length > 0);
      const { resourceVersion } = (await client.get(resources.namespaces, red)).metadata;
      const end = clock.monotonic() + 50_000;
      await settle({ clock, until: () => clock.monotonic() > end });
      assert.equal((await client.get(resources.namespaces, red)).metadata.resourceVersion, resourceVersion);
    }));
});

describe('planNamespace', () => {
  const deleted: KubeObject = { metadata: { name: 'red', deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const cases: readonly [string, KubeObject, ReturnType<typeof planNamespace>][] = [
    ['nobody deletes it', { metadata: { name: 'red' } }, 'nothing'],
    ['it has just been deleted', { ...deleted, status: { phase: 'Active' } }, 'mark-terminating'],
    [
      'it holds its content',
      { ...deleted, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } },
      'delete-content',
    ],
    [
      'others hold it',
      { ...deleted, spec: { finalizers: ['example.com/x'] }, status: { phase: 'Terminating' } },
      'nothing',
    ],
  ];
  for (const [name, namespace, step] of cases)
    it(`${name}: ${step}`, () => assert.equal(planNamespace(namespace), step));
});

describe('planConditions', () => {
  const now = '2026-01-01T00:00:00Z';
  const good: ContentPass = { undiscovered: [], remaining: [], failures: [] };

  it('has all five kinds, and keeps the list if nothing changes', () => {
    const first = planConditions([], good, now);
    assert.deepEqual(
      first.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
        ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
        ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
        ['NamespaceContentRemaining', 'False', 'ContentRemoved'],
        ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers'],
      ],
    );
    assert.equal(planConditions(first, good, '2026-01-01T01:00:00Z'), first);
  });

  it('names groups that cannot be seen and deletions that are refused', () => {
    const bad: ContentPass = {
      undiscovered: ['metrics.k8s.io/v1beta1'],
      remaining: [],
      failures: ['b: no', 'a: no'],
    };
    const messages = planConditions([], bad, now).map(({ message }) => message);
    assert.match(
      messages[0] ?? '',
      /^Discovery failed for some groups, 1 failing: .*metrics\.k8s\.io\/v1beta1/,
    );
    assert.equal(messages[2], 'Failed to delete all resource types, 2 remaining: a: no, b: no');
  });
});
