import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { ResourceRef } from '@sheaf/client';
import { startTestServer, TestClock } from '@sheaf/testkit';

const configMaps: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
const namespaces: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

function configMap(name: string, data: Record<string, string> = {}): KubeObject {
  return { metadata: { name, namespace: 'default' }, data };
}

async function withServer(
  run: (test: Awaited<ReturnType<typeof startTestServer>>) => Promise<void>,
): Promise<void> {
  const test = await startTestServer({ clock: new TestClock('2026-03-01T10:00:00.5Z') });
  try {
    await test.client.create(namespaces, { metadata: { name: 'default' } });
    await run(test);
  } finally {
    await test.close();
  }
}

function status(reason: string, code: number, message?: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(StatusError.is(error), String(error));
    assert.deepEqual([error.reason, error.code], [reason, code]);
    if (message) assert.match(error.message, message);
    return true;
  };
}

describe('verbs', () => {
  it('sets on create what only the server sets', () =>
    withServer(async ({ client }) => {
      const sent = configMap('a', { x: '1' });
      sent.metadata.uid = 'mine';
      sent.metadata.creationTimestamp = '2000-01-01T00:00:00Z';
      const made = await client.create(configMaps, sent);
      assert.equal(made.metadata.creationTimestamp, '2026-03-01T10:00:00Z');
      assert.match(made.metadata.uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
      assert.match(made.metadata.resourceVersion ?? '', /^[1-9]\d*$/);
      assert.deepEqual(made['data'], { x: '1' });
      assert.deepEqual(await client.get(configMaps, { namespace: 'default', name: 'a' }), made);
    }));

  it('tells unknown fields also of an object that is refused for its kind', () =>
    withServer(async ({ transport }) => {
      const send = async (fieldValidation: string): Promise<readonly [number, unknown]> => {
        const { status: code, headers } = await transport.send({
          method: 'POST',
          target: `/api/v1/namespaces/default/configmaps?fieldValidation=${fieldValidation}`,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ kind: 'Secret', apiVersion: 'v1', metadata: {}, zork: 1 }),
        });
        return [code, headers['warning']];
      };
      assert.deepEqual(await send('Warn'), [400, '299 - "unknown field \\"zork\\""']);
      assert.deepEqual(await send('Ignore'), [400, undefined]);
    }));

  it('refuses a name that is taken, and makes one up from generateName', () =>
    withServer(async ({ client }) => {
      await client.create(configMaps, configMap('a'));
      await assert.rejects(
        client.create(configMaps, configMap('a')),
        status('AlreadyExists', 409, /^configmaps "a" already exists$/),
      );
      const made = await client.create(configMaps, {
        metadata: { generateName: 'job-', namespace: 'default' },
      });
      assert.match(made.metadata.name ?? '', /^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    }));

  it('holds updates to the version that was read', () =>
    withServer(async ({ client }) => {
      const made = await client.create(configMaps, configMap('a', { x: '1' }));
      const next = await client.update(configMaps, { ...made, data: { x: '2' } });
      await assert.rejects(
        client.update(configMaps, { ...made, data: { x: '3' } }),
        status(
          'Conflict',
          409,
          /the object has been modified; please apply your changes to the latest version/,
        ),
      );
      assert.notEqual(next.metadata.resourceVersion, made.metadata.resourceVersion);
    }));

  it('writes nothing when nothing changes', () =>
    withServer(async ({ client }) => {
      const made = await client.create(configMaps, configMap('a', { x: '1' }));
      const again = await client.update(configMaps, made);
      assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
    }));

  it('keeps an object with finalizers until the last is taken off', () =>
    withServer(async ({ client }) => {
      const made = await client.create(configMaps, {
        ...configMap('a'),
        metadata: { name: 'a', namespace: 'default', finalizers: ['example.com/hold'] },
      });
      const pending = await client.delete(configMaps, { namespace: 'default', name: 'a' });
      assert.equal(pending.metadata.deletionTimestamp, '2026-03-01T10:00:00Z');
      const blocked: KubeObject = {
        ...pending,
        metadata: { ...pending.metadata, finalizers: ['example.com/hold', 'example.com/new'] },
      };
      await assert.rejects(
        client.update(configMaps, blocked),
        status('Invalid', 422, /no new finalizers can be added/),
      );
      const last = await client.update(configMaps, {
        ...pending,
        metadata: { ...pending.metadata, finalizers: [] },
      });
      assert.equal(last.metadata.resourceVersion, pending.metadata.resourceVersion);
      assert.equal(last.metadata.uid, made.metadata.uid);
      await assert.rejects(
        client.get(configMaps, { namespace: 'default', name: 'a' }),
        status('NotFound', 404),
      );
    }));

  it('answers a finished delete with a Status that names the uid', () =>
    withServer(async ({ client }) => {
      const made = await client.create(configMaps, configMap('a'));
      const answer = await client.delete(
        configMaps,
        { namespace: 'default', name: 'a' },
        { uid: made.metadata.uid ?? '' },
      );
      assert.deepEqual(answer, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'a', kind: 'configmaps', uid: made.metadata.uid },
      });
    }));

  it('refuses a delete whose preconditions do not hold', () =>
    withServer(async ({ client }) => {
      await client.create(configMaps, configMap('a'));
      await assert.rejects(
        client.delete(configMaps, { namespace: 'default', name: 'a' }, { uid: 'other' }),
        status('Conflict', 409, /the UID in the precondition \(other\) does not match the UID in record/),
      );
    }));

  it('pages through one consistent state while others write', () =>
    withServer(async ({ client, server }) => {
      for (let index = 0; index < 25; index++)
        await client.create(configMaps, configMap(`c${String(index).padStart(2, '0')}`));
      const seen: string[] = [];
      let token = '';
      let version = '';
      do {
        const query = `?limit=10${token ? `&continue=${encodeURIComponent(token)}` : ''}`;
        const page = await client.raw(`/api/v1/namespaces/default/configmaps${query}`);
        const meta = page['metadata'] as {
          continue?: string;
          resourceVersion: string;
          remainingItemCount?: number;
        };
        version ||= meta.resourceVersion;
        assert.equal(meta.resourceVersion, version);
        seen.push(...(page['items'] as unknown as KubeObject[]).map((item) => item.metadata.name ?? ''));
        token = meta.continue ?? '';
        await client.create(configMaps, configMap(`b-late-${seen.length}`));
        await client.delete(configMaps, { namespace: 'default', name: seen.at(-1) ?? '' });
      } while (token !== '');
      assert.deepEqual(
        seen,
        Array.from({ length: 25 }, (_, index) => `c${String(index).padStart(2, '0')}`),
      );
      assert.ok(server.stores.revision > Number(version));
    }));

  it('refuses tokens and versions that it has not given', () =>
    withServer(async ({ client }) => {
      await assert.rejects(client.raw('/api/v1/configmaps?continue=nonsense'), status('BadRequest', 400));
      await assert.rejects(client.raw('/api/v1/configmaps?resourceVersion=x'), status('BadRequest', 400));
      await assert.rejects(
        client.raw('/api/v1/configmaps?resourceVersionMatch=Exact'),
        status('Invalid', 422),
      );
      await assert.rejects(client.raw('/api/v1/configmaps?labelSelector=a,,=b'), status('BadRequest', 400));
      await assert.rejects(
        client.raw('/api/v1/configmaps?fieldSelector=spec.zork=b'),
        status('BadRequest', 400, /"spec.zork" is not a known field selector/),
      );
      await assert.rejects(
        client.raw('/api/v1/zorks'),
        status('NotFound', 404, /could not find the requested resource/),
      );
    }));
});

describe('watch', () => {
  it('tells a selector what begins and ends to match, with the previous content at the end', () =>
    withServer(async ({ client }) => {
      const made = await client.create(configMaps, {
        ...configMap('a', { x: '1' }),
        metadata: { name: 'a', namespace: 'default' },
      });
      const stop = new AbortController();
      const events: unknown[] = [];
      const watching = (async () => {
        const watch = client.watch(configMaps, {
          namespace: 'default',
          labelSelector: 'on=yes',
          resourceVersion: made.metadata.resourceVersion ?? '',
          signal: stop.signal,
        });
        for await (const event of watch) {
          events.push([event.type, event.object['data']]);
          if (events.length === 3) break;
        }
      })();
      const patch = (
        labels: Record<string, string | null>,
        data: Record<string, string>,
      ): Promise<KubeObject> =>
        client.patch(
          configMaps,
          { namespace: 'default', name: 'a' },
          { type: 'merge', body: { metadata: { labels }, data } },
        );
      await patch({ on: 'yes' }, { x: '2' });
      await patch({ on: 'yes' }, { x: '3' });
      await patch({ on: null }, { x: '4' });
      await watching;
      assert.deepEqual(events, [
        ['ADDED', { x: '2' }],
        ['MODIFIED', { x: '3' }],
        ['DELETED', { x: '3' }],
      ]);
    }));

  it('closes the initial state with a bookmark', () =>
    withServer(async ({ client }) => {
      await client.create(configMaps, configMap('a'));
      const events: string[] = [];
      for await (const event of client.watch(configMaps, { sendInitialEvents: true })) {
        events.push(
          `${event.type} ${event.object.metadata.name ?? ''} ${JSON.stringify(event.object.metadata.annotations ?? {})}`,
        );
        if (event.type === 'BOOKMARK') break;
      }
      assert.deepEqual(events, ['ADDED a {}', 'BOOKMARK  {"k8s.io/initial-events-end":"true"}']);
    }));
});
