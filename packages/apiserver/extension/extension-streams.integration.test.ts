import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type JsonObject, StatusError } from '@sheaf/base';
import { console, ExtensionWorld, grant, message, root, until } from './extension-world.fixture.ts';

describe('extensions over HTTP', { timeout: 120_000 }, () => {
  let world: ExtensionWorld;
  before(async () => {
    world = await ExtensionWorld.open();
  });
  after(() => world.close());

  describe('streams', () => {
    it('carry bytes both ways under the protocols of virtctl, noVNC and browsers', async () => {
      for (const protocol of ['plain.kubevirt.io', 'binary.k8s.io', 'binary']) {
        const socket = world.open(console, { protocols: ['unknown', protocol] });
        await once(socket, 'open');
        assert.equal(socket.protocol, protocol);
        socket.send(Buffer.from('ping'));
        assert.deepEqual(await message(socket), { text: 'ping', isBinary: true });
        socket.close(1000);
        await once(socket, 'close');
      }
      const socket = world.open(console, { protocols: ['base64.binary.k8s.io'] });
      await once(socket, 'open');
      socket.send(Buffer.from('ping').toString('base64'));
      assert.deepEqual(await message(socket), { text: 'cGluZw==', isBinary: false });
      socket.close();
      await once(socket, 'close');
    });

    it('need no protocol, and take text for its bytes', async () => {
      const socket = world.open(`${root}/virtualmachineinstances/vm1/portforward/22/tcp`);
      assert.deepEqual(await message(socket), { text: '22 tcp', isBinary: true });
      assert.equal(socket.protocol, '');
      socket.send('typed');
      assert.deepEqual(await message(socket), { text: 'typed', isBinary: true });
      socket.close();
      await once(socket, 'close');
    });

    it('take the token of a browser as a protocol, and never answer with it', async () => {
      const token = await world.server.newToken('browser');
      await grant(world.server, 'browser', ['virtualmachineinstances/console']);
      const secret = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
      const socket = world.open(console, { protocols: [secret, 'plain.kubevirt.io'] });
      await once(socket, 'open');
      assert.equal(socket.protocol, 'plain.kubevirt.io');
      socket.close();
      await once(socket, 'close');
    });

    it('end on both sides, whichever ends first', async () => {
      const socket = world.open(console);
      await once(socket, 'open');
      assert.ok(world.server.feature.open.has('console'));
      socket.send('exit');
      assert.equal((await message(socket)).text, 'exit');
      const [code] = (await once(socket, 'close')) as [number];
      assert.equal(code, 1000);
      const gone = world.open(console);
      await once(gone, 'open');
      gone.terminate();
      await until(() => !world.server.feature.open.has('console'));
    });

    it('are audited at their begin and end, and counted while they are open', async () => {
      const socket = world.open(console, { headers: { 'audit-id': 'watched' } });
      await once(socket, 'open');
      const count = /^apiserver_longrunning_requests\{verb="GET",.*subresource="console".*\} (\d+)$/m;
      assert.equal(count.exec(world.metrics.text())?.[1], '1');
      socket.close();
      await until(() => count.exec(world.metrics.text())?.[1] === '0');
      await world.audit.flush();
      const events = world.audited.map((line) => JSON.parse(line) as JsonObject);
      assert.deepEqual(
        events
          .filter((event) => event['auditID'] === 'watched')
          .map(({ stage, verb, responseStatus }) => [stage, verb, (responseStatus as JsonObject)['code']]),
        [
          ['ResponseStarted', 'get', 101],
          ['ResponseComplete', 'get', 101],
        ],
      );
    });

    it('tell a failure of the other side in the close frame', async () => {
      const socket = world.open(`${root}/virtualmachineinstances/vm1/vnc`);
      await once(socket, 'open');
      socket.send('x');
      const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
      assert.deepEqual([code, reason.toString()], [1011, 'the machine is gone']);
      await until(() => !world.server.feature.open.has('vnc'));
    });

    it('bound the size of a message', async () => {
      const socket = world.open(console);
      await once(socket, 'open');
      socket.send(Buffer.alloc(2 * 1024 * 1024));
      const [code] = (await once(socket, 'close')) as [number];
      assert.equal(code, 1009);
    });

    it('answer what is no WebSocket, and what is no stream, as ever', async () => {
      const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
      assert.match(await world.refusal(console, { headers: upgrade }), /^400 this is a stream/);
      const socket = world.open(`${root}/virtualmachineinstances/vm1/guestosinfo`);
      socket.on('error', () => {});
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
      assert.equal(response.statusCode, 200);
    });

    it('are opened by the client alike over HTTP and in the process', async () => {
      for (const client of [world.server.client, world.server.test.client]) {
        const stream = await client.connect(console);
        await stream.write(Buffer.from('exit'));
        const chunks = await Array.fromAsync(stream.readable);
        assert.equal(Buffer.concat(chunks).toString(), 'exit');
        stream.dispose();
        await assert.rejects(client.connect(`${root}/virtualmachines/vm1/fly`), (error) =>
          StatusError.is(error, 'NotFound'),
        );
      }
      await until(() => !world.server.feature.open.has('console'));
    });

    it('carry a flood in both directions without gathering it', async () => {
      const stream = await world.server.client.connect(console);
      const total = 64 * 1024 * 1024;
      const chunk = Buffer.alloc(256 * 1024, 1);
      const sent = (async () => {
        for (let bytes = 0; bytes < total; bytes += chunk.length) await stream.write(chunk);
      })();
      let received = 0;
      for await (const part of stream.readable) {
        received += part.length;
        if (received === total) break;
      }
      await sent;
      assert.equal(received, total);
      stream.dispose();
    });
  });
});
