import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { HttpServer } from '@sheaf/apiserver';
import { resources } from '@sheaf/client';
import { systemClock } from '@sheaf/drivers/system';
import { HostBackends } from '@sheaf/drivers/upstream';
import { startTestServer, type TestServer, testCertificates } from '@sheaf/testkit';
import { WebSocket, WebSocketServer } from 'ws';

/** The loopback is refused, so that it has to be another one. */
const address = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

describe('proxy of pods and services', {
  skip: address === undefined ? 'this machine has no address but the loopback' : false,
}, () => {
  let test: TestServer;
  let http: HttpServer;
  let backend: Server;
  let port: number;
  let backendPort: number;
  let identity: { readonly ca: string; readonly cert: string; readonly key: string };
  const base = '/api/v1/namespaces/default';

  before(async () => {
    backend = createServer(serve);
    const sockets = new WebSocketServer({ server: backend });
    sockets.on('connection', (socket, { url = '' }) => {
      socket.send(`at ${url}`);
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    });
    backend.listen(0, '0.0.0.0');
    await once(backend, 'listening');
    backendPort = (backend.address() as AddressInfo).port;
    test = await startTestServer({ clock: systemClock, backends: new HostBackends() });
    const { authority, admin, serving } = await testCertificates();
    identity = { ca: authority.certificatePem, cert: admin.certificatePem, key: admin.privateKeyPem };
    const tls = { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem };
    http = new HttpServer({ handler: test.server.handle, clock: systemClock, tls });
    ({ port } = await http.listen('127.0.0.1', 0));
    await prepare(test, backendPort);
  });
  after(async () => {
    await http.close(100);
    await test.close();
    backend.closeAllConnections();
    backend.close();
  });

  async function ask(
    path: string,
    {
      method = 'GET',
      body = '',
      headers = {},
    }: { method?: string; body?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Answer> {
    const outgoing = request({ ...identity, host: '127.0.0.1', port, path, method, headers, agent: false });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const text = Buffer.concat(await Array.fromAsync(incoming as AsyncIterable<Buffer>)).toString();
    return { status: incoming.statusCode ?? 0, headers: incoming.headers, text };
  }

  it('hands over method, path, query, headers and body, and nothing that tells who asks', async () => {
    const { status, headers, text } = await ask(`${base}/pods/web:${backendPort}/proxy/a%20b/?x=1&watch=0`, {
      method: 'POST',
      body: 'said',
      headers: {
        'x-own': 'kept',
        'impersonate-user': 'root',
        'impersonate-group': 'system:masters',
        'x-remote-user': 'forged',
      },
    });
    assert.deepEqual([status, headers['x-backend']], [418, 'yes']);
    assert.deepEqual(JSON.parse(text), {
      method: 'POST',
      url: '/a%20b/?x=1&watch=0',
      body: 'said',
      host: `${address}:${backendPort}`,
      own: 'kept',
      uri: `${base}/pods/web:${backendPort}/proxy/a%20b/`,
      foreign: [],
    });
  });

  it('finds the port: of the pod’s first container, and of a Service by name and by number', async () => {
    for (const place of [
      'pods/web',
      'pods/http:web:',
      'services/web:http',
      'services/web:80',
      'services/http:web:80',
    ]) {
      const { text } = await ask(`${base}/${place}/proxy/here`);
      assert.match(text, /"url":"\/here"/, place);
    }
  });

  it('leads a reader of the bare path to its directory, and links of the other server through itself', async () => {
    const bare = await ask(`${base}/services/web:http/proxy?x=1`);
    assert.deepEqual([bare.status, bare.headers.location], [301, `${base}/services/web:http/proxy/?x=1`]);
    for (const [target, location] of [
      ['/login', `${base}/services/web:http/proxy/login`],
      [`http://${address}:${backendPort}/login`, `${base}/services/web:http/proxy/login`],
      ['https://elsewhere.test/login', 'https://elsewhere.test/login'],
    ] as const) {
      const path = `/redirect?to=${encodeURIComponent(target)}`;
      const { headers } = await ask(`${base}/services/web:http/proxy${path}`);
      assert.equal(headers.location, location);
    }
  });

  it('carries WebSockets, both ways', async () => {
    const url = `wss://127.0.0.1:${port}${base}/services/web:http/proxy/live`;
    const socket = new WebSocket(url, identity);
    const [first] = (await once(socket, 'message')) as [Buffer];
    assert.equal(first.toString(), 'at /live');
    const large = Buffer.alloc(3_000_000, 'y');
    const echoed = once(socket, 'message') as Promise<[Buffer]>;
    socket.send(large);
    assert.ok((await echoed)[0].equals(large));
    const closed = once(socket, 'close') as Promise<[number]>;
    socket.close(1000);
    assert.equal((await closed)[0], 1000);
  });

  it('tells what cannot be reached, in the words of the system', async () => {
    const closed = createServer().listen(0, '0.0.0.0');
    await once(closed, 'listening');
    const { port: free } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    for (const [place, status, words] of [
      [`pods/web:${free}`, 503, `error trying to reach service: connect ECONNREFUSED ${address}:${free}`],
      ['pods/inside:80', 400, 'address not allowed'],
      ['services/outside:http', 503, 'no endpoints available for service "outside"'],
      ['pods/web:none', 400, 'invalid port "none" of pod "web"'],
    ] as const) {
      const { status: got, text } = await ask(`${base}/${place}/proxy/`);
      const { message } = JSON.parse(text) as { readonly message: string };
      assert.deepEqual([got, message], [status, words]);
    }
  });
});

function serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url = '', headers } = incoming;
  const to = new URL(url, 'http://x').searchParams.get('to');
  if (to !== null) {
    outgoing.writeHead(302, { location: to }).end();
    return;
  }
  void Array.fromAsync(incoming as AsyncIterable<Buffer>).then((parts) => {
    const told = {
      method,
      url,
      body: Buffer.concat(parts).toString(),
      host: headers.host,
      own: headers['x-own'],
      uri: headers['x-forwarded-uri'],
      foreign: Object.keys(headers).filter((name) => /^(authorization|impersonate-|x-remote-)/.test(name)),
    };
    outgoing.writeHead(418, { 'x-backend': 'yes' }).end(JSON.stringify(told));
  });
}

async function prepare({ client }: TestServer, port: number): Promise<void> {
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await client.create(resources.serviceAccounts, { metadata: { namespace: 'default', name: 'default' } });
  for (const [name, podIP] of [
    ['web', address ?? ''],
    ['inside', '127.0.0.1'],
  ] as const) {
    const pod = await client.create(resources.pods, {
      metadata: { namespace: 'default', name },
      spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }] },
    });
    await client.updateStatus(resources.pods, {
      ...pod,
      status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] },
    });
  }
  await client.create(resources.services, {
    metadata: { namespace: 'default', name: 'web' },
    spec: { ports: [{ name: 'http', port: 80, targetPort: port }] },
  });
  await client.create(resources.endpointSlices, {
    metadata: { namespace: 'default', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [address ?? ''], conditions: { ready: true } }],
  });
  await client.create(resources.services, {
    metadata: { namespace: 'default', name: 'outside' },
    spec: { type: 'ExternalName', externalName: 'example.test', ports: [{ name: 'http', port: 80 }] },
  });
}
