import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TestClock } from '@sheaf/testkit';
import { WebSocket } from 'ws';
import { type ExtensionServer, startExtensionServer } from './extension-server.fixture.ts';

const upload = '/v1/sample/machines/default/vm1?action=upload';

describe('extensions over HTTP/2', { timeout: 60_000 }, () => {
  let server: ExtensionServer;
  let session: ClientHttp2Session;
  const newSession = (): ClientHttp2Session => {
    const { authority, credentials } = server.admin;
    return connect(server.url, {
      ca: authority,
      ...('certificate' in credentials
        ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
        : {}),
    });
  };
  before(async () => {
    server = await startExtensionServer();
    session = newSession();
  });
  after(async () => {
    session.destroy();
    await server.close();
  });

  it('take uploads as fast as they are read', async () => {
    const total = 32 * 1024 * 1024;
    let written = 0;
    let mostWaiting = 0;
    server.feature.onChunk = async () => {
      mostWaiting = Math.max(mostWaiting, written - server.feature.uploaded);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const stream = session.request({ ':method': 'POST', ':path': upload });
    const chunk = Buffer.alloc(64 * 1024);
    for (; written < total; written += chunk.length) if (!stream.write(chunk)) await once(stream, 'drain');
    stream.end();
    assert.equal(await textOf(stream), `{"bytes":${total}}`);
    assert.ok(mostWaiting < 8 * 1024 * 1024, `${mostWaiting} bytes were on their way at once`);
  });

  it('do not take a broken upload for a whole one', async () => {
    let isOver: string | undefined;
    server.feature.onUploadEnd = (how) => {
      isOver = how;
    };
    server.feature.onChunk = () => Promise.resolve();
    const cut = newSession();
    const stream = cut.request({ ':method': 'POST', ':path': upload });
    stream.on('error', () => {});
    stream.write(Buffer.alloc(1000));
    while (server.feature.uploaded !== 1000) await delay(5);
    cut.destroy();
    while (isOver === undefined) await delay(5);
    assert.equal(isOver, 'the request body broke off');
  });

  it('stream downloads, break them off when they fail, and refuse streams in both directions', async () => {
    const path = '/v1/sample/files/a';
    assert.equal(await textOf(session.request({ ':path': path })), 'a 0\na 1\na 2\n');
    const broken = session.request({ ':path': '/v1/sample/files/broken' });
    await assert.rejects(textOf(broken), /INTERNAL_ERROR/);
    const console =
      '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm1/console';
    assert.match(
      await textOf(session.request({ ':path': console })),
      /open it as a WebSocket over HTTP\/1.1/,
    );
  });

  it('end with the server, and say so', async () => {
    const other = await startExtensionServer();
    const console =
      '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm1/console';
    const stream = await other.client.connect(console);
    const ended = Array.fromAsync(stream.readable);
    await other.close();
    // 1001 is an end, not a fault.
    assert.deepEqual(await ended, []);
    assert.equal(other.feature.open.size, 0);
  });
});

describe('WebSockets whose other side is silent', { timeout: 60_000 }, () => {
  const clock = new TestClock();
  let server: ExtensionServer;
  before(async () => {
    server = await startExtensionServer({ httpClock: clock });
  });
  after(async () => {
    // Nobody else moves the clock by which the server closes.
    const closed = server.close();
    clock.advance(10_000);
    await closed;
  });
  const open = (subresource: string): WebSocket => {
    const { authority, credentials } = server.admin;
    const root = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm1';
    return new WebSocket(`${server.url.replace('https', 'wss')}${root}/${subresource}`, {
      ca: authority,
      ...('certificate' in credentials
        ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
        : {}),
      autoPong: false,
    });
  };

  it('end when the client is not heard of for a minute', async () => {
    const socket = open('console');
    await once(socket, 'open');
    const closed = once(socket, 'close');
    for (let beat = 0; beat < 6; beat++) clock.advance(10_000);
    assert.deepEqual((await closed)[0], 1006);
    while (server.feature.open.has('console')) await delay(5);
  });

  it('end a while after the client has gone, when what it has sent is not taken', async () => {
    const socket = open('usbredir');
    await once(socket, 'open');
    socket.send('x');
    socket.close();
    await once(socket, 'close');
    assert.ok(server.feature.open.has('usbredir'));
    while (server.feature.open.has('usbredir')) {
      clock.advance(5000);
      await delay(5);
    }
  });
});

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(stream)).toString();
}
