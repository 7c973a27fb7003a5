import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Condition, findCondition, type KubeObject } from '@sheaf/api';
import { StatusError, silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { conditionsOf, inProgress, planDefinition } from './plan.ts';
import { register } from './register.ts';

const widgets = {
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

const definition: KubeObject = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

interface World {
  readonly client: Client;
  readonly eventually: (claim: () => Promise<boolean>) => Promise<void>;
}

async function withWidgets(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager);
  void manager.start();
  const eventually = (claim: () => Promise<boolean>): Promise<void> => settle({ clock, until: claim });
  try {
    await client.create(resources.customResourceDefinitions, definition);
    await eventually(async () => (await client.send({ method: 'GET', target: listPath })).status === 200);
    await run({ client, eventually });
  } finally {
    await manager.stop();
    await close();
  }
}

const listPath = '/apis/example.com/v1/widgets';
const name = 'widgets.example.com';

describe('deletion of custom resource definitions', () => {
  it('takes all instances with it, then the kind is not served any more', () =>
    withWidgets(async ({ client, eventually }) => {
      for (const each of ['a', 'b'])
        await client.create(widgets, { metadata: { name: each, namespace: 'default' } });
      await client.delete(resources.customResourceDefinitions, { name });
      await eventually(
        async () => (await client.find(resources.customResourceDefinitions, { name })) === undefined,
      );
      assert.equal((await client.send({ method: 'GET', target: listPath })).status, 404);
      await client.create(resources.customResourceDefinitions, definition);
      await eventually(async () => (await client.send({ method: 'GET', target: listPath })).status === 200);
      assert.deepEqual((await client.list(widgets)).items, []);
    }));

  it('waits for finalizers of instances, names them, and lets nothing new in', () =>
    withWidgets(async ({ client, eventually }) => {
      const metadata = { name: 'a', namespace: 'default', finalizers: ['example.com/hold'] };
      await client.create(widgets, { metadata });
      await client.delete(resources.customResourceDefinitions, { name });
      const terminating = async (): Promise<Condition | undefined> =>
        findCondition(
          conditionsOf(await client.get(resources.customResourceDefinitions, { name })),
          'Terminating',
        );
      await eventually(async () => (await terminating())?.message?.includes('remaining') ?? false);
      assert.equal(
        (await terminating())?.message,
        'CustomResource deletion is in progress: 1 remaining, finalizers: example.com/hold in 1',
      );
      await assert.rejects(
        client.create(widgets, { metadata: { name: 'b', namespace: 'default' } }),
        (error) => StatusError.is(error, 'MethodNotAllowed'),
      );
      await client.patch(
        widgets,
        { namespace: 'default', name: 'a' },
        { type: 'merge', body: { metadata: { finalizers: null } } },
      );
      await eventually(
        async () => (await client.find(resources.customResourceDefinitions, { name })) === undefined,
      );
    }));
});

describe('planDefinition', () => {
  const deleted: KubeObject = {
    ...definition,
    metadata: {
      name,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
    },
  };
  const established = { conditions: [{ type: 'Established', status: 'True' }] };

  it('does nothing while nobody deletes it', () => {
    assert.deepEqual(planDefinition({ ...definition, status: established }), { action: 'none' });
  });

  it('lets go what was never established', () => {
    const step = planDefinition(deleted);
    assert.equal(step.action, 'release');
  });

  it('says what is in the way when no version is served', () => {
    const spec = { ...(definition['spec'] as object), versions: [{ name: 'v1', served: false }] };
    const step = planDefinition({ ...deleted, spec, status: established });
    assert.ok(step.action === 'blocked');
    assert.match(step.condition.message ?? '', /set served to true/);
  });

  it('counts who holds the instances', () => {
    const held = (...finalizers: string[]): KubeObject => ({ metadata: { finalizers } });
    assert.equal(
      inProgress([held('x.io/a'), held('x.io/a', 'x.io/b')]).message,
      'CustomResource deletion is in progress: 2 remaining, finalizers: x.io/a in 2, x.io/b in 1',
    );
  });
});
