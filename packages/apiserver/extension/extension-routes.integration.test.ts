import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { post } from './extension-server.fixture.ts';
import { ExtensionWorld, message } from './extension-world.fixture.ts';

describe('extensions over HTTP', { timeout: 120_000 }, () => {
  let world: ExtensionWorld;
  before(async () => {
    world = await ExtensionWorld.open();
  });
  after(() => world.close());

  describe('routes', () => {
    const machine = '/v1/sample/machines/default/vm1';

    it('answer by path and action, and fail in their own form', async () => {
      const started = await world.server.client.send(post(`${machine}?action=start`, {}));
      assert.deepEqual([started.status, await started.text()], [204, '']);
      const wrong = await world.server.client.send(post(`${machine}?action=start`, { fail: true }));
      assert.deepEqual([wrong.status, await wrong.text()], [422, ': InvalidBodyContent: it must not fail']);
      const unknown = await world.server.client.send(post(`${machine}?action=fly`, {}));
      assert.deepEqual([unknown.status, await unknown.text()], [403, 'no action fly']);
    });

    it('let in whom they say', async () => {
      const client = world.server.clientOf(await world.server.newToken('stranger'));
      const refused = await client.send(post(`${machine}?action=start`, {}));
      assert.equal(refused.status, 403);
      assert.match(
        await refused.text(),
        /^Forbidden: configmaps "vm1" is forbidden: User "system:serviceaccount:default:stranger" cannot update resource "configmaps"/,
      );
      const nobody = world.server.clientOf('');
      assert.equal(await nobody.text('/v1/sample/public'), 'hello');
      const anonymous = await nobody.send(post(`${machine}?action=fly`, {}));
      assert.equal(anonymous.status, 401);
    });

    it('look at tokens of their own, which are worth nothing elsewhere', async () => {
      const holder = world.server.clientOf('made-by-the-route');
      assert.equal(await holder.text('/v1/sample/own-token'), 'Bearer made-by-the-route of system:anonymous');
      assert.equal((await holder.send({ method: 'GET', target: '/v1/sample/public' })).status, 401);
    });

    it('are not answered when a route forgets to ask', async () => {
      assert.match(await world.refusal('/v1/sample/forgetful'), /^500 .*without asking what the user may do/);
    });

    it('stream downloads, and break them off when they fail', async () => {
      assert.equal(await world.server.client.text('/v1/sample/files/a/b'), 'a/b 0\na/b 1\na/b 2\n');
      await assert.rejects(world.server.client.text('/v1/sample/files/broken'), /broke off|aborted/);
    });

    it('carry texts over WebSockets', async () => {
      const socket = world.open('/v1/sample/subscribe');
      await once(socket, 'open');
      socket.send('{"name":"start"}');
      assert.deepEqual(await message(socket), { text: '{"name":"start"}', isBinary: false });
      socket.close();
      await once(socket, 'close');
    });

    it('take uploads of 200 MB as they come, in flat memory', async () => {
      const total = 200 * 1024 * 1024;
      const chunk = Buffer.alloc(64 * 1024, 7);
      let produced = 0;
      let mostWaiting = 0;
      // Slower than the client.
      world.server.feature.onChunk = async () => {
        mostWaiting = Math.max(mostWaiting, produced - world.server.feature.uploaded);
        await new Promise((resolve) => setImmediate(resolve));
      };
      async function* upload(): AsyncGenerator<Uint8Array> {
        for (; produced < total; produced += chunk.length) yield chunk;
      }
      const before = process.memoryUsage();
      const answer = await world.server.client.send({
        method: 'POST',
        target: `${machine}?action=upload`,
        upload: upload(),
      });
      assert.equal(await answer.text(), `{"bytes":${total}}`);
      assert.ok(mostWaiting < 16 * 1024 * 1024, `${mostWaiting} bytes were on their way at once`);
      const { arrayBuffers } = process.memoryUsage();
      assert.ok(arrayBuffers - before.arrayBuffers < 64 * 1024 * 1024);
    });

    it('take forms', async () => {
      const form = new FormData();
      form.append('size', '4');
      form.append('file', new Blob(['data']), 'disk.img');
      const sent = new Response(form);
      const answer = await world.server.client.send({
        method: 'POST',
        target: `${machine}?action=form`,
        headers: { 'content-type': sent.headers.get('content-type') ?? '' },
        body: await sent.text(),
      });
      assert.equal(await answer.text(), '{"size":"4","file":"data"}');
    });

    it('refuse an upload beyond the limit before and while it comes', async () => {
      const refused = await new Promise<number | undefined>((resolve, reject) => {
        const { authority, credentials } = world.server.admin;
        const outgoing = httpsRequest(new URL(`${machine}?action=upload`, world.server.url), {
          method: 'POST',
          ca: authority,
          ...('certificate' in credentials
            ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
            : {}),
          headers: { 'content-length': String(1024 ** 3) },
        });
        outgoing.on('response', (response) => {
          resolve(response.statusCode);
          outgoing.destroy();
        });
        outgoing.on('error', reject);
        outgoing.flushHeaders();
      });
      assert.equal(refused, 413);
      const tooMuch = { method: 'POST', target: `${machine}?action=upload-small`, upload: megabytes(2) };
      assert.equal((await world.server.client.send(tooMuch)).status, 413);
      assert.ok(world.server.feature.uploaded <= 1024 * 1024);
    });
  });
});

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count * 16; index++) yield Buffer.alloc(64 * 1024);
}
