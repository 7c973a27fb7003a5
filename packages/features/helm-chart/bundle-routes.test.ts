import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { badRequest } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import type { BundleNews, Bundles, LoadedBundle } from '@sheaf/ports';
import { startTestServer, TestClock, type TestServer } from '@sheaf/testkit';
import { extend } from './bundle-routes.ts';

const place = '/v1/sheaf/nodes/node-1/bundles';
const digest = `sha256:${'a'.repeat(64)}`;
const bundle: LoadedBundle = {
  id: '0123456789abcdef',
  loadedAt: 0,
  formatVersion: 1,
  platform: 'linux/amd64',
  purposes: ['Addon default/web'],
  charts: [{ repo: 'http://charts.example', chart: 'web', version: '1.0.0', digest }],
  images: [{ reference: 'registry.example/web:1', digest, mediaType: 'x', parts: [] }],
  programs: [{ name: 'helm', version: 'v3.22.0', digest }],
  parts: [{ digest, bytes: 7 }],
};

/** What a host's bundles do with what is sent: the text says it. */
async function* newsOf(archive: AsyncIterable<Uint8Array>): AsyncGenerator<BundleNews> {
  let text = '';
  for await (const chunk of archive) text += Buffer.from(chunk).toString();
  if (text === 'no bundle') throw badRequest('this is no bundle');
  yield { step: 'received', id: bundle.id, index: bundle };
  if (text === 'bad image') throw badRequest('its image cannot be loaded');
  yield { step: 'done', id: bundle.id };
}

const bundles: Bundles = {
  list: () => [bundle],
  load: newsOf,
  remove: () => Promise.resolve({ kept: ['registry.example/web:1'] }),
  hasImage: () => false,
  onChange: () => ({ dispose: () => undefined }),
};

type Ask = (
  method: 'GET' | 'POST' | 'DELETE',
  target: string,
  body?: string,
  client?: Client,
) => Promise<string>;

async function withBundles(use: (ask: Ask, server: TestServer) => Promise<void>): Promise<void> {
  const server = await startTestServer({
    clock: new TestClock(),
    extend: (api) => extend(api, { nodeName: 'node-1', bundles }),
  });
  try {
    await use(async (method, target, body, client = server.client) => {
      const answer = await client.send({ method, target, ...(body !== undefined && { body }) });
      return `${answer.status} ${await answer.text()}`;
    }, server);
  } finally {
    await server.close();
  }
}

describe('the bundles of a node', () => {
  it('are listed, loaded with a line for each piece, and removed with what stays', () =>
    withBundles(async (ask) => {
      assert.deepEqual(JSON.parse((await ask('GET', place)).slice(4)), {
        items: [
          {
            id: bundle.id,
            loadedAt: '1970-01-01T00:00:00.000Z',
            platform: 'linux/amd64',
            purposes: ['Addon default/web'],
            charts: [{ repo: 'http://charts.example', chart: 'web', version: '1.0.0' }],
            images: ['registry.example/web:1'],
            programs: ['helm v3.22.0'],
            bytes: 7,
          },
        ],
      });
      const received = `{"step":"received","id":"${bundle.id}","charts":1,"images":1}\n`;
      assert.equal(await ask('POST', place, 'good'), `200 ${received}{"step":"done","id":"${bundle.id}"}\n`);
      assert.equal(await ask('DELETE', `${place}/${bundle.id}`), '200 {"kept":["registry.example/web:1"]}');
    }));

  it('are refused as any request, until the archive has come; then the last line says what failed', () =>
    withBundles(async (ask) => {
      assert.match(await ask('POST', place, 'no bundle'), /^400 .*this is no bundle/);
      assert.match(
        await ask('POST', place, 'bad image'),
        /^200 .*\n\{"step":"failed","message":"its image cannot be loaded"\}\n$/,
      );
      assert.match(await ask('DELETE', `${place}/..`), /^40[04] /);
      assert.match(await ask('DELETE', `${place}/mine`), /^400 .*has 16 hex digits; see: sheaf bundle ls/);
      assert.match(
        await ask('GET', '/v1/sheaf/nodes/other/bundles'),
        /^404 .*this Sheaf runs the node node-1/,
      );
    }));

  it('are for those who may', () =>
    withBundles(async (ask, server) => {
      const nobody = server.clientAs({ name: 'nobody', groups: ['system:authenticated'] });
      for (const [method, verb] of [
        ['GET', 'list'],
        ['POST', 'create'],
      ] as const)
        assert.match(
          await ask(method, place, undefined, nobody),
          new RegExp(`^403 .*cannot ${verb} resource \\\\"nodes/bundles\\\\"`),
        );
    }));
});
