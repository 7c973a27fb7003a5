import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Condition, findCondition, type KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { MemoryStore, type Store } from '@sheaf/store';
import { allTasks, startTestServer } from '@sheaf/testkit';

const name = 'widgets.example.com';
const definition: KubeObject = {
  metadata: { name },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const widgets = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: false };

/** A server on `store`; it ends without the store. */
async function withServer(store: Store, run: (client: TestClient) => Promise<void>): Promise<void> {
  const { client, server } = await startTestServer({ store });
  try {
    await allTasks();
    await run(client);
  } finally {
    server.close();
  }
}
type TestClient = Awaited<ReturnType<typeof startTestServer>>['client'];

async function storedDefinition(
  store: Store,
): Promise<{ key: string; revision: number; object: KubeObject }> {
  const { records } = await store.range({ prefix: '' });
  const record = records.find(({ key }) => key.endsWith(name));
  assert.ok(record);
  const object = JSON.parse(Buffer.from(record.value).toString('utf8')) as KubeObject;
  return { key: record.key, revision: record.revision, object };
}

it('what has been decided on is served after a restart, without a write', async () => {
  const store = new MemoryStore();
  await withServer(
    store,
    async (client) => void (await client.create(resources.customResourceDefinitions, definition)),
  );
  const { revision } = await storedDefinition(store);
  await withServer(store, async (client) => {
    assert.deepEqual((await client.list(widgets)).items, []);
  });
  assert.equal((await storedDefinition(store)).revision, revision);
});

it('what the server had no time to decide on before it ended is decided on at its start', async () => {
  const store = new MemoryStore();
  await withServer(
    store,
    async (client) => void (await client.create(resources.customResourceDefinitions, definition)),
  );
  const { key, revision, object } = await storedDefinition(store);
  const undecided = { ...object, status: { conditions: null, acceptedNames: { plural: '', kind: '' } } };
  await store.commit({ key, expected: revision, value: Buffer.from(JSON.stringify(undecided)) });
  await withServer(store, async (client) => {
    const { status } = (await client.get(resources.customResourceDefinitions, { name })) as {
      readonly status?: { readonly conditions?: readonly Condition[] };
    };
    assert.equal(findCondition(status?.conditions, 'Established')?.status, 'True');
    assert.deepEqual((await client.list(widgets)).items, []);
  });
});
