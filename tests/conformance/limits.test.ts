import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { send } from './send.ts';
import { type OpenServer, startOwnServer } from './servers.ts';
import { Target } from './target.ts';

let server: OpenServer;
let target: Target;

const path = '/api/v1/namespaces/default/configmaps';
const json = { 'content-type': 'application/json' };

before(async () => {
  server = await startOwnServer();
  target = new Target(server.address);
});

after(() => target.close());
after(() => server.stop());

for (const overHttp2 of [false, true]) {
  const request = { headers: {}, body: undefined, withCertificate: true, overHttp2 };
  const protocol = overHttp2 ? 'HTTP/2' : 'HTTP/1.1';

  test(`${protocol}: a body of more than 3 MiB is refused, and the next request is served`, async () => {
    const data = { a: 'x'.repeat(3 * 1024 * 1024) };
    const body = Buffer.from(JSON.stringify({ metadata: { name: 'too-large' }, data }));
    const refused = await send(target, { ...request, method: 'POST', path, headers: json, body });
    const { kind, reason, code } = JSON.parse(refused.body.toString('utf8')) as Record<string, unknown>;
    assert.deepEqual([refused.status, kind, reason, code], [413, 'Status', 'RequestEntityTooLarge', 413]);
    const next = await send(target, { ...request, method: 'GET', path: `${path}/too-large` });
    assert.equal(next.status, 404);
  });

  test(`${protocol}: an answer bears the audit id of its request, or a new one`, async () => {
    const headers = { 'audit-id': 'given-by-the-client' };
    const given = await send(target, { ...request, method: 'GET', path, headers });
    assert.equal(given.headers['audit-id'], 'given-by-the-client');
    const ids = await Promise.all(
      [1, 2].map(async () => (await send(target, { ...request, method: 'GET', path })).headers['audit-id']),
    );
    assert.match(String(ids[0]), /^[0-9a-f-]{36}$/);
    assert.notEqual(ids[0], ids[1]);
  });
}
