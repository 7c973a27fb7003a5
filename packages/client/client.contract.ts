import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { Client, ResourceRef } from './index.ts';

const configMaps: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

/** A client against a real API server, and how to end both. */
export interface ClientUnderTest {
  readonly client: Client;
  close(): Promise<void>;
}

/** What every transport must do alike. The namespace `default` must exist. */
export function clientContract(name: string, open: () => Promise<ClientUnderTest>): void {
  const run = (test: (client: Client) => Promise<void>) => async (): Promise<void> => {
    const { client, close } = await open();
    try {
      await test(client);
    } finally {
      await close();
    }
  };
  const object = (id: string, data: Record<string, string> = {}): KubeObject => ({
    metadata: { name: id, namespace: 'default' },
    data,
  });
  const ref = (id: string): { namespace: string; name: string } => ({ namespace: 'default', name: id });

  describe(`client over ${name}`, () => {
    it(
      'creates, reads, changes and deletes',
      run(async (client) => {
        const made = await client.create(configMaps, object('a', { x: '1' }));
        assert.deepEqual(await client.get(configMaps, ref('a')), made);
        const merged = await client.patch(configMaps, ref('a'), {
          type: 'merge',
          body: { data: { y: '2' } },
        });
        assert.deepEqual(merged['data'], { x: '1', y: '2' });
        const applied = await client.apply(configMaps, object('a', { z: '3' }), { fieldManager: 'me' });
        assert.deepEqual(applied['data'], { x: '1', y: '2', z: '3' });
        const gone = await client.delete(configMaps, ref('a'));
        assert.equal(gone['status'], 'Success');
        assert.equal(await client.find(configMaps, ref('a')), undefined);
      }),
    );

    it(
      'downloads bytes, and tells what the server refuses with',
      run(async (client) => {
        const bytes = Buffer.concat(await Array.fromAsync(await client.download('/version')));
        assert.match(bytes.toString(), /"gitVersion"/);
        await assert.rejects(client.download('/api/v1/nothing'), (error) =>
          StatusError.is(error, 'NotFound'),
        );
      }),
    );

    it(
      'turns refusals into errors with their reason',
      run(async (client) => {
        await assert.rejects(client.get(configMaps, ref('missing')), (error) => {
          assert.ok(StatusError.is(error, 'NotFound'));
          assert.deepEqual(
            [error.code, error.message, error.details],
            [404, 'configmaps "missing" not found', { name: 'missing', kind: 'configmaps' }],
          );
          return true;
        });
        await assert.rejects(
          client.create(configMaps, object('Not A Name')),
          (error) =>
            StatusError.is(error, 'Invalid') && error.details?.causes?.[0]?.field === 'metadata.name',
        );
      }),
    );

    it(
      'reads all pages of a list',
      run(async (client) => {
        await Promise.all(
          Array.from({ length: 12 }, (_, index) => client.create(configMaps, object(`n${index}`))),
        );
        const { items, resourceVersion } = await client.list(configMaps, { namespace: 'default', limit: 5 });
        assert.equal(items.filter((item) => item.metadata.name?.startsWith('n')).length, 12);
        assert.ok(items.every((item) => item.kind === 'ConfigMap'));
        assert.match(resourceVersion, /^[1-9]\d*$/);
      }),
    );

    it(
      'watches in order, from a version on, until its signal',
      run(async (client) => {
        const first = await client.create(configMaps, object('w', { step: '0' }));
        const stop = new AbortController();
        const seen: string[] = [];
        const watching = (async () => {
          for await (const { type, object: changed } of client.watch(configMaps, {
            namespace: 'default',
            resourceVersion: first.metadata.resourceVersion ?? '',
            signal: stop.signal,
          })) {
            if (type === 'BOOKMARK') continue;
            seen.push(`${type} ${JSON.stringify(changed['data'])}`);
            if (type === 'DELETED') stop.abort(new Error('seen enough'));
          }
        })();
        for (const step of ['1', '2', '3'])
          await client.patch(configMaps, ref('w'), { type: 'merge', body: { data: { step } } });
        await client.delete(configMaps, ref('w'));
        await assert.rejects(watching, /seen enough|aborted/);
        assert.deepEqual(seen, [
          'MODIFIED {"step":"1"}',
          'MODIFIED {"step":"2"}',
          'MODIFIED {"step":"3"}',
          'DELETED {"step":"3"}',
        ]);
      }),
    );

    it(
      'ends a watch from a forgotten version as expired',
      run(async (client) => {
        await assert.rejects(
          async () => {
            for await (const event of client.watch(configMaps, { resourceVersion: '1' }))
              assert.fail(JSON.stringify(event));
          },
          (error) => StatusError.is(error, 'Expired') && error.code === 410,
        );
      }),
    );

    it(
      'fails before sending when its signal is aborted',
      run(async (client) => {
        await assert.rejects(
          client.get(configMaps, ref('a'), AbortSignal.abort(new Error('too late'))),
          /too late|aborted/,
        );
      }),
    );
  });
}
