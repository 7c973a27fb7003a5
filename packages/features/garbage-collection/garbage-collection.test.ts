import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject, OwnerReference } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { register } from './register.ts';

interface World {
  readonly client: Client;
  readonly clock: TestClock;
  readonly eventually: (claim: () => Promise<boolean>) => Promise<void>;
}

async function withCollector(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const server = await startTestServer({ clock });
  await server.client.create(resources.namespaces, { metadata: { name: 'default' } });
  await server.client.create(resources.namespaces, { metadata: { name: 'other' } });
  const manager = new Manager({
    client: server.client,
    clock,
    random: new SeededRandom(3),
    logger: silentLogger,
  });
  register(manager);
  let isStarted = false;
  void manager.start().then(() => {
    isStarted = true;
  });
  await settle({ clock, until: () => isStarted });
  try {
    const eventually = (claim: () => Promise<boolean>): Promise<void> => settle({ clock, until: claim });
    await run({ client: server.client, clock, eventually });
  } finally {
    await manager.stop();
    await server.close();
  }
}

function configMap(name: string, owners: readonly OwnerReference[] = [], namespace = 'default'): KubeObject {
  return { metadata: { name, namespace, ...(owners.length > 0 ? { ownerReferences: [...owners] } : {}) } };
}

function ownerOf(object: KubeObject, fields: Partial<OwnerReference> = {}): OwnerReference {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: object.metadata.name ?? '',
    uid: object.metadata.uid ?? '',
    ...fields,
  };
}

const ref = (name: string, namespace = 'default') => ({ namespace, name });

describe('garbage collection', () => {
  const exists = async (client: Client, name: string, namespace = 'default'): Promise<boolean> =>
    (await client.find(resources.configMaps, ref(name, namespace))) !== undefined;

  it('deletes what the deleted object owned, through all generations', () =>
    withCollector(async ({ client, eventually }) => {
      const a = await client.create(resources.configMaps, configMap('a'));
      const b = await client.create(resources.configMaps, configMap('b', [ownerOf(a)]));
      await client.create(resources.configMaps, configMap('c', [ownerOf(b)]));
      await client.delete(resources.configMaps, ref('a'), { propagationPolicy: 'Background' });
      await eventually(async () => !(await exists(client, 'c')));
      assert.equal(await exists(client, 'b'), false);
    }));

  it('keeps what has another owner, and drops the reference to the absent one', () =>
    withCollector(async ({ client, eventually }) => {
      const a = await client.create(resources.configMaps, configMap('a'));
      const b = await client.create(resources.configMaps, configMap('b'));
      await client.create(resources.configMaps, configMap('c', [ownerOf(a), ownerOf(b)]));
      await client.delete(resources.configMaps, ref('a'));
      await eventually(async () => {
        const c = await client.get(resources.configMaps, ref('c'));
        return c.metadata.ownerReferences?.length === 1;
      });
      const c = await client.get(resources.configMaps, ref('c'));
      assert.deepEqual(c.metadata.ownerReferences, [ownerOf(b)]);
    }));

  it('takes an owner with another uid for absent', () =>
    withCollector(async ({ client, eventually }) => {
      const a = await client.create(resources.configMaps, configMap('a'));
      const stale = ownerOf(a, { uid: '00000000-0000-4000-8000-000000000000' });
      await client.create(resources.configMaps, configMap('b', [stale]));
      await eventually(async () => !(await exists(client, 'b')));
      assert.equal(await exists(client, 'a'), true);
    }));

  it('deletes in the foreground: dependents first', () =>
    withCollector(async ({ client, eventually, clock }) => {
      const a = await client.create(resources.configMaps, configMap('a'));
      const held = configMap('b', [ownerOf(a, { blockOwnerDeletion: true })]);
      held.metadata.finalizers = ['example.com/hold'];
      await client.create(resources.configMaps, held);
      await client.delete(resources.configMaps, ref('a'), { propagationPolicy: 'Foreground' });
      await eventually(
        async () =>
          (await client.get(resources.configMaps, ref('b'))).metadata.deletionTimestamp !== undefined,
      );
      clock.advance(5000);
      assert.equal(await exists(client, 'a'), true);
      await client.patch(resources.configMaps, ref('b'), {
        type: 'merge',
        body: { metadata: { finalizers: null } },
      });
      await eventually(async () => !(await exists(client, 'a')));
    }));

  it('breaks a ring of owners that are deleted in the foreground', () =>
    withCollector(async ({ client, eventually }) => {
      const a = await client.create(resources.configMaps, configMap('a'));
      const b = await client.create(
        resources.configMaps,
        configMap('b', [ownerOf(a, { blockOwnerDeletion: true })]),
      );
      const body = { metadata: { ownerReferences: [{ ...ownerOf(b, { blockOwnerDeletion: true }) }] } };
      await client.patch(resources.configMaps, ref('a'), { type: 'merge', body });
      await client.delete(resources.configMaps, ref('a'), { propagationPolicy: 'Foreground' });
      await eventually(async () => !(await exists(client, 'a')) && !(await exists(client, 'b')));
    }));

  it('releases dependents that are to stay', () =>
    withCollector(async ({ client, eventually }) => {
      const a = await client.create(resources.configMaps, configMap('a'));
      await client.create(resources.configMaps, configMap('b', [ownerOf(a)]));
      await client.delete(resources.configMaps, ref('a'), { propagationPolicy: 'Orphan' });
      await eventually(async () => !(await exists(client, 'a')));
      const b = await client.get(resources.configMaps, ref('b'));
      assert.deepEqual(b.metadata.ownerReferences ?? [], []);
    }));

  it('takes an owner in another namespace for absent, and says so', () =>
    withCollector(async ({ client, eventually }) => {
      const a = await client.create(resources.configMaps, configMap('a', [], 'other'));
      await client.create(resources.configMaps, configMap('b', [ownerOf(a)]));
      await eventually(async () => !(await exists(client, 'b')));
      await eventually(async () => (await client.list(resources.events)).items.length > 0);
      const [event] = (await client.list(resources.events)).items;
      assert.equal(event?.['reason'], 'OwnerRefInvalidNamespace');
      assert.match(String(event?.['message']), /does not exist in namespace "default"$/);
    }));

  it('leaves alone what has an owner of a kind that is not served', () =>
    withCollector(async ({ client, clock }) => {
      const a = await client.create(resources.configMaps, configMap('a'));
      const owner = ownerOf(a, { apiVersion: 'example.com/v1', kind: 'Widget' });
      await client.create(resources.configMaps, configMap('b', [owner]));
      await settle({ clock, until: () => clock.monotonic() > 30_000 });
      assert.equal(await exists(client, 'b'), true);
    }));

  it('collects custom resources from the moment they are served', () =>
    withCollector(async ({ client, eventually }) => {
      const widgets = {
        group: 'example.com',
        version: 'v1',
        plural: 'widgets',
        kind: 'Widget',
        namespaced: true,
      };
      await client.create(resources.customResourceDefinitions, {
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', kind: 'Widget' },
          versions: [
            { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
          ],
        },
      });
      const a = await client.create(resources.configMaps, configMap('a'));
      await eventually(async () => {
        const list = await client.send({ method: 'GET', target: '/apis/example.com/v1/widgets' });
        return list.status === 200;
      });
      const made = await client.create(widgets, configMap('w', [ownerOf(a)]));
      const owner = ownerOf(made, { apiVersion: 'example.com/v1', kind: 'Widget' });
      await client.create(resources.configMaps, configMap('b', [owner]));
      await client.delete(resources.configMaps, ref('a'));
      await eventually(async () => !(await exists(client, 'b')));
      assert.equal(await client.find(widgets, ref('w')), undefined);
    }));
});
