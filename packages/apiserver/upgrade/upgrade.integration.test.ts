import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { HttpServer } from '@sheaf/apiserver';
import { systemClock } from '@sheaf/drivers/system';
import { startTestServer, type TestServer, testCertificates } from '@sheaf/testkit';
import { WebSocket } from 'ws';
import type { RequestObserver } from '../pipeline/request-observer.ts';
import { FrameWriter } from '../spdy/frame-writer.ts';
import { HandProcess, portsAnswer, processAnswer } from './upgrade-scene.fixture.ts';

const path = '/api/v1/namespaces/default/pods/web';

describe('upgrades of a connection', () => {
  let processes: HandProcess[] = [];
  let ended: string[] = [];
  let test: TestServer;
  let http: HttpServer;
  let port: number;
  let identity: { readonly ca: string; readonly cert: string; readonly key: string };

  before(async () => {
    const observer: RequestObserver = {
      begin: ({ request }) => ({
        annotate() {},
        end: () => ({ chunk() {}, ended: () => void ended.push(request.path) }),
      }),
    };
    const shared = { resource: 'pods', verbs: ['get', 'create'], isOfKept: true } as const;
    test = await startTestServer({
      clock: systemClock,
      observer,
      extend: (api) =>
        api.addGroup({
          group: '',
          version: 'v1',
          endpoints: [
            {
              ...shared,
              subresource: 'exec',
              handle() {
                const process = new HandProcess();
                processes.push(process);
                return processAnswer(process);
              },
            },
            { ...shared, subresource: 'portforward', handle: () => portsAnswer() },
          ],
        }),
    });
    const { authority, admin, serving } = await testCertificates();
    identity = { ca: authority.certificatePem, cert: admin.certificatePem, key: admin.privateKeyPem };
    const tls = { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem };
    http = new HttpServer({ handler: test.server.handle, clock: systemClock, tls });
    ({ port } = await http.listen('127.0.0.1', 0));
  });
  after(async () => {
    await http.close(100);
    await test.close();
  });

  function webSocket(word: string, ...protocols: string[]): WebSocket {
    return new WebSocket(`wss://127.0.0.1:${port}${path}/${word}`, protocols, identity);
  }

  /** What a request is refused with. */
  async function refusal(socket: WebSocket): Promise<string> {
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, AsyncIterable<Buffer>];
    const text = Buffer.concat(await Array.fromAsync(response)).toString();
    return `${(response as { statusCode?: number }).statusCode} ${(JSON.parse(text) as Error).message}`;
  }

  async function raw(...lines: string[]): Promise<TLSSocket> {
    const socket = connect({ host: '127.0.0.1', port, ALPNProtocols: ['http/1.1'], ...identity });
    await once(socket, 'secureConnect');
    socket.write([...lines, 'Host: x', '', ''].join('\r\n'));
    return socket;
  }

  async function answerTo(...lines: string[]): Promise<string> {
    const socket = await raw(...lines, 'Connection: close');
    return Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString();
  }

  const spdy = ['Connection: Upgrade', 'Upgrade: SPDY/3.1'];

  it('to WebSockets are those of processes and ports', async () => {
    const socket = webSocket('exec', 'v9.channel.k8s.io', 'v5.channel.k8s.io');
    const first = once(socket, 'message');
    await once(socket, 'open');
    assert.equal(socket.protocol, 'v5.channel.k8s.io');
    assert.deepEqual((await first)[0], Buffer.of(1));
    ended = [];
    processes.at(-1)?.exit(0);
    assert.equal((await once(socket, 'close'))[0], 1000);
    await until(() => ended.length === 1);
    assert.deepEqual(ended, [`${path}/exec`]);
  });

  it('are refused with what is spoken', async () => {
    processes = [];
    assert.match(
      await refusal(webSocket('exec', 'v9.channel.k8s.io')),
      /^400 .*this server speaks v5\.channel/,
    );
    assert.match(await refusal(webSocket('portforward', 'x')), /^400 .*SPDY\/3\.1\+portforward\.k8s\.io/);
    const none = await answerTo(`POST ${path}/exec HTTP/1.1`);
    assert.match(none, /^HTTP\/1\.1 400 [^]*Upgrade request required/);
    const unknown = await answerTo(`POST ${path}/exec HTTP/1.1`, ...spdy, 'X-Stream-Protocol-Version: v9');
    assert.match(unknown, /^HTTP\/1\.1 400 [^]*this server speaks v4\.channel\.k8s\.io/);
  });

  it('to SPDY are those of processes and ports, without anything that could be taken for SPDY', async () => {
    const elsewhere = await answerTo('GET /version HTTP/1.1', ...spdy);
    assert.match(elsewhere, /^HTTP\/1\.1 200 /);
    const body = await answerTo(`POST ${path}/exec HTTP/1.1`, ...spdy, 'Content-Length: 1');
    assert.match(body, /^HTTP\/1\.1 400 /);
    const socket = await raw(
      `POST ${path}/portforward HTTP/1.1`,
      ...spdy,
      'X-Stream-Protocol-Version: portforward.k8s.io',
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    assert.match(
      head.toString(),
      /^HTTP\/1\.1 101 [^]*Upgrade: SPDY\/3\.1\r\nX-Stream-Protocol-Version: portforward\.k8s\.io\r\n/,
    );
    const ping = new FrameWriter().write({ kind: 'ping', id: 1 });
    const answer = once(socket, 'data');
    socket.write(ping);
    assert.deepEqual((await answer)[0], ping);
    const closed = once(socket, 'close');
    // Of version 1, which nobody speaks.
    socket.write(Buffer.of(0x80, 1, 0, 1, 0, 0, 0, 0));
    await closed;
  });

  it('end with the server, and what was begun for them', async () => {
    const socket = webSocket('exec', 'v4.channel.k8s.io');
    await once(socket, 'message');
    socket.send(Buffer.from('\u0000here'));
    const process = processes.at(-1);
    await process?.until(({ typed }) => typed === 'here');
    const closed = once(socket, 'close');
    await http.close(1000);
    assert.equal((await closed)[0], 1001);
    assert.equal(process?.isDisposed, true);
  });
});

/** It is looked at, because nothing tells of it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
