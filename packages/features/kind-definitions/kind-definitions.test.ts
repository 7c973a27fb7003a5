import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { StatusError, silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock, type TestServer } from '@sheaf/testkit';
import { confirmationAnnotation } from './admission.ts';
import { markAnnotation, replacedAnnotation } from './plan.ts';
import { DefinitionKeeper } from './reconcile.ts';
import { extend, register } from './register.ts';

const crds = resources.customResourceDefinitions;
/** Small ones: what holds of them holds of all. */
const names = ['keypairs.harvesterhci.io', 'settings.harvesterhci.io'];
const definitions = kindDefinitions().filter(({ name }) => names.includes(name));
const keyPairs = { name: 'keypairs.harvesterhci.io' };

interface World extends TestServer {
  readonly clock: TestClock;
  readonly keeper: DefinitionKeeper;
  install(): Promise<void>;
}

async function withServer(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const server = await startTestServer({ clock, extend });
  const { client } = server;
  const keeper = new DefinitionKeeper({ client, clock, logger: silentLogger, definitions });
  const install = async (): Promise<void> => {
    let isDone = false;
    const installed = keeper.install(1000).then(() => {
      isDone = true;
    });
    await settle({ clock, until: () => isDone });
    await installed;
  };
  try {
    await run({ ...server, clock, keeper, install });
  } finally {
    await server.close();
  }
}

async function withController(world: World, run: () => Promise<void>): Promise<void> {
  const { client, clock, keeper } = world;
  const manager = new Manager({ client, clock, random: new SeededRandom(5), logger: silentLogger });
  register(manager, keeper);
  void manager.start();
  try {
    await run();
  } finally {
    await manager.stop();
  }
}

async function change(client: Client, alter: (crd: KubeObject) => KubeObject): Promise<void> {
  const crd = await client.get(crds, keyPairs);
  await client.update(crds, alter(crd));
}

function withShortNames(crd: KubeObject, shortNames: readonly string[]): KubeObject {
  const spec = crd['spec'] as { names: object };
  return { ...crd, spec: { ...spec, names: { ...spec.names, shortNames } } };
}

function shortNames(crd: KubeObject | undefined): unknown {
  return (crd?.['spec'] as { names?: { shortNames?: unknown } } | undefined)?.names?.shortNames;
}

const confirmation = { metadata: { annotations: { [confirmationAnnotation]: keyPairs.name } } };

/** What someone installed before, from a chart of theirs. */
const foreign: KubeObject = {
  metadata: { ...keyPairs, labels: { chart: 'theirs' }, annotations: { 'helm.sh/resource-policy': 'keep' } },
  spec: {
    group: 'harvesterhci.io',
    scope: 'Namespaced',
    names: { plural: 'keypairs', kind: 'KeyPair' },
    versions: [
      { name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
};

describe('kind definitions', () => {
  it('are served when the start is done, and written once', async () => {
    await withServer(async ({ client, install, keeper, store }) => {
      await install();
      assert.deepEqual([...keeper.problems], []);
      const settings = { group: 'harvesterhci.io', version: 'v1beta1', plural: 'settings', kind: 'Setting' };
      const made = await client.create(
        { ...settings, namespaced: false },
        { metadata: { name: 'a' }, value: 'b' },
      );
      assert.equal(made['value'], 'b');
      const { revision } = store;
      await install();
      assert.equal(store.revision, revision);
    });
  });

  it('replace what someone else had installed, and say so; labels and annotations stay', async () => {
    await withServer(async ({ client, install }) => {
      await client.create(crds, foreign);
      await install();
      const crd = await client.get(crds, keyPairs);
      assert.deepEqual(shortNames(crd), ['kp', 'kps']);
      assert.equal(crd.metadata.labels?.['chart'], 'theirs');
      assert.equal(crd.metadata.annotations?.['helm.sh/resource-policy'], 'keep');
      assert.match(crd.metadata.annotations?.[replacedAnnotation] ?? '', /^[0-9a-f]{16}$/);
      const digest = definitions.find(({ name }) => name === keyPairs.name)?.digest;
      assert.equal(crd.metadata.annotations?.[markAnnotation], `${digest}/${crd.metadata.generation}`);
    });
  });

  it('undo changes of the spec and keep those of the metadata', async () => {
    await withServer(async (world) => {
      const { client, clock, install } = world;
      await install();
      await withController(world, async () => {
        await change(client, (crd) => ({
          ...withShortNames(crd, ['mine']),
          metadata: { ...crd.metadata, labels: { team: 'a' } },
        }));
        const isRestored = async (): Promise<boolean> =>
          String(shortNames(await client.get(crds, keyPairs))) === 'kp,kps';
        await settle({ clock, until: isRestored });
        const { labels, annotations } = (await client.get(crds, keyPairs)).metadata;
        assert.deepEqual(labels, { team: 'a' });
        assert.equal(annotations?.[replacedAnnotation], undefined);
      });
    });
  });

  it('are only deleted by those who say that they mean it', async () => {
    await withServer(async ({ client, install }) => {
      await install();
      await assert.rejects(client.delete(crds, keyPairs), (error) => {
        assert.ok(StatusError.is(error, 'Forbidden'));
        assert.match(
          error.message,
          /every KeyPair would be deleted.*kubectl annotate crd keypairs\.harvesterhci\.io/,
        );
        return true;
      });
      await client.create(crds, {
        metadata: { name: 'widgets.example.com' },
        spec: {
          ...(foreign['spec'] as object),
          group: 'example.com',
          names: { plural: 'widgets', kind: 'Widget' },
        },
      });
      await client.delete(crds, { name: 'widgets.example.com' });
    });
  });

  it('come back after a user has deleted them', async () => {
    await withServer(async (world) => {
      const { client, clock, install, keeper } = world;
      await install();
      const { uid } = (await client.get(crds, keyPairs)).metadata;
      await withController(world, async () => {
        await client.patch(crds, keyPairs, { type: 'merge', body: confirmation });
        await client.delete(crds, keyPairs);
        await settle({ clock, until: () => keeper.problems.has(keyPairs.name) });
        // What the clean-up does when the last object is gone.
        await client.patch(crds, keyPairs, { type: 'merge', body: { metadata: { finalizers: [] } } });
        const isBack = async (): Promise<boolean> => {
          const crd = await client.find(crds, keyPairs);
          return crd !== undefined && crd.metadata.uid !== uid && keeper.problems.size === 0;
        };
        await settle({ clock, until: isBack });
      });
    });
  });

  it('are waited for on a busy host, as long as nothing stands in their way', async () => {
    await withServer(async ({ clock, clientThrough, transport }) => {
      let isBusy = true;
      const client = clientThrough(async (request) => {
        const isDiscovery = request.method === 'GET' && /^\/apis\/?(\?|$)/.test(request.target);
        if (isBusy && isDiscovery) throw new Error('the server is busy');
        return transport.send(request);
      });
      const keeper = new DefinitionKeeper({ client, clock, logger: silentLogger, definitions });
      const begun = clock.monotonic();
      let isDone = false;
      void keeper.install(100_000).then(() => {
        isDone = true;
      });
      await settle({ clock, until: () => isDone || clock.monotonic() > begun + 30_000 });
      assert.equal(isDone, false);
      isBusy = false;
      await settle({ clock, until: () => isDone });
      assert.deepEqual([...keeper.problems], []);
      assert.ok(clock.monotonic() < begun + 40_000);
    });
  });

  it('of which one is refused are not waited for longer than usual', async () => {
    await withServer(async ({ clock, clientThrough, transport }) => {
      const client = clientThrough((request) => {
        if (request.method === 'POST' && request.body?.includes('keypairs'))
          return Promise.reject(new Error('the disk is full'));
        return transport.send(request);
      });
      const keeper = new DefinitionKeeper({ client, clock, logger: silentLogger, definitions });
      const begun = clock.monotonic();
      let isDone = false;
      void keeper.install(100_000).then(() => {
        isDone = true;
      });
      await settle({ clock, until: () => isDone });
      assert.ok(clock.monotonic() < begun + 20_000);
      assert.deepEqual([...keeper.problems], [['keypairs.harvesterhci.io', 'the disk is full']]);
    });
  });

  it('do not hold up the start: what the server refuses is a problem of that kind', async () => {
    await withServer(async ({ clock, clientThrough, transport }) => {
      const client = clientThrough((request) => {
        if (request.method === 'POST' && request.body?.includes('keypairs'))
          return Promise.reject(new Error('the disk is full'));
        return transport.send(request);
      });
      const keeper = new DefinitionKeeper({ client, clock, logger: silentLogger, definitions });
      let isDone = false;
      void keeper.install(1000).then(() => {
        isDone = true;
      });
      await settle({ clock, until: () => isDone });
      assert.deepEqual([...keeper.problems], [['keypairs.harvesterhci.io', 'the disk is full']]);
    });
  });
});
