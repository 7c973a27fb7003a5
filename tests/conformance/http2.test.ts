import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { after, before, test } from 'node:test';
import { openStream, send } from './send.ts';
import { type OpenServer, startOwnServer } from './servers.ts';
import { Target } from './target.ts';

let server: OpenServer;
let target: Target;

const path = '/api/v1/namespaces/default/configmaps';
const request = { headers: {}, body: undefined, withCertificate: true, overHttp2: true } as const;

before(async () => {
  server = await startOwnServer();
  target = new Target(server.address);
});

after(() => target.close());

function session(): ClientHttp2Session {
  const { host, port, authority, certificate, key } = server.address;
  return connect(`https://${host}:${port}`, {
    ca: authority,
    cert: certificate,
    key,
    checkServerIdentity: () => undefined,
  });
}

test('one connection carries a hundred watches and requests beside them', async () => {
  const watches = await Promise.all(
    Array.from({ length: 100 }, () =>
      openStream(target, { ...request, method: 'GET', path: `${path}?watch=true&resourceVersion=0` }),
    ),
  );
  const body = Buffer.from(JSON.stringify({ metadata: { name: 'seen' } }));
  const headers = { 'content-type': 'application/json' };
  const made = await send(target, { ...request, method: 'POST', path, headers, body });
  assert.equal(made.status, 201);
  const deadline = performance.now() + 5000;
  while (watches.some((watch) => watch.body().length === 0) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(watches.filter((watch) => watch.body().includes('"seen"')).length, 100);
  for (const watch of watches) watch.close();
});

test('a body larger than the window of a stream goes up in pieces', async () => {
  const body = Buffer.from(JSON.stringify({ metadata: { name: 'large' }, data: { a: 'x'.repeat(900_000) } }));
  const headers = { 'content-type': 'application/json' };
  const made = await send(target, { ...request, method: 'POST', path, headers, body });
  assert.equal(made.status, 201);
  const read = await send(target, { ...request, method: 'GET', path: `${path}/large` });
  assert.equal(JSON.parse(read.body.toString('utf8')).data.a.length, 900_000);
});

test('a client that stops reading does not hold up the others of its connection', async () => {
  const own = session();
  const stalled = own.request({ ':path': `${path}/large` });
  await once(stalled, 'response');
  stalled.pause();
  const other = own.request({ ':path': `${path}/seen` });
  const [headers] = await once(other, 'response');
  assert.equal(headers[':status'], 200);
  own.destroy();
});

test('a server that stops says so, and ends its watches without an error', async () => {
  const own = session();
  const goaway = once(own, 'goaway');
  const watch = own.request({ ':path': `${path}?watch=true` });
  await once(watch, 'response');
  watch.resume();
  const ended = once(watch, 'end');
  const errors: Error[] = [];
  watch.on('error', (error) => errors.push(error));
  target.close();
  await server.stop();
  const [code] = await goaway;
  await ended;
  assert.equal(code, 0);
  assert.deepEqual(errors, []);
  own.destroy();
});
