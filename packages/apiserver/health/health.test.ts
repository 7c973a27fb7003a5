import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestServer } from '@sheaf/testkit';
import type { ApiRequest } from '../pipeline/api-request.ts';
import { HealthChecks } from './health-checks.ts';

const admin = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };

function request(path: string, headers: ApiRequest['headers'] = {}): ApiRequest {
  const [bare = '', query = ''] = path.split('?');
  return {
    method: 'GET',
    path: bare,
    query,
    headers,
    signal: new AbortController().signal,
    trustedUser: admin,
    remoteAddress: '127.0.0.1',
    readBody: () => Promise.resolve(new Uint8Array()),
  };
}

async function serverWith(health: HealthChecks): Promise<{
  get(
    path: string,
    headers?: ApiRequest['headers'],
  ): Promise<{ status: number; type: unknown; text: string }>;
  close(): Promise<void>;
}> {
  const { server, close } = await startTestServer({ health });
  return {
    close,
    async get(path, headers) {
      const { status, headers: sent, body } = await server.handle(request(path, headers));
      const chunks = body.kind === 'bytes' ? body.chunks : [];
      return { status, type: sent['content-type'], text: Buffer.concat(chunks).toString() };
    },
  };
}

describe('health paths', () => {
  it('say ok, and in full when asked', async () => {
    const { get, close } = await serverWith(new HealthChecks());
    assert.deepEqual(await get('/livez'), { status: 200, type: 'text/plain; charset=utf-8', text: 'ok' });
    assert.equal((await get('/livez?verbose')).text, '[+]ping ok\nlivez check passed\n');
    assert.equal((await get('/readyz/ping')).text, 'ok');
    assert.equal((await get('/readyz/nothing')).status, 404);
    assert.equal((await get('/readyz/ping/further')).status, 404);
    assert.equal((await get('/constructor')).status, 404);
    await close();
  });

  it('tell what fails, but not why, unless the check itself is asked', async () => {
    const health = new HealthChecks();
    health.add({ name: 'controllers', check: () => 'namespace controller has not started' }, 'readyz');
    health.add({ name: 'thrower', check: () => Promise.reject(new Error('broken')) }, 'readyz');
    const { get, close } = await serverWith(health);
    assert.equal((await get('/livez')).status, 200);
    assert.deepEqual(await get('/readyz'), {
      status: 500,
      type: 'text/plain; charset=utf-8',
      text: '[+]ping ok\n[-]controllers failed: reason withheld\n[-]thrower failed: reason withheld\nreadyz check failed\n',
    });
    assert.deepEqual(await get('/readyz/controllers'), {
      status: 500,
      type: 'text/plain; charset=utf-8',
      text: 'internal server error: namespace controller has not started\n',
    });
    assert.equal((await get('/readyz/thrower')).text, 'internal server error: broken\n');
    assert.equal(
      (await get('/healthz?verbose&exclude=controllers,x&exclude=thrower')).text,
      '[+]ping ok\n[+]controllers excluded: ok\n[+]thrower excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n',
    );
    await close();
  });
});

describe('paths that say what the server is', () => {
  it('the version parses as clients expect', async () => {
    const { get, close } = await serverWith(new HealthChecks());
    const { type, text } = await get('/version');
    const version = JSON.parse(text) as Record<string, string>;
    assert.equal(type, 'application/json');
    assert.deepEqual([version['major'], version['minor']], ['1', '36']);
    assert.match(version['gitVersion'] ?? '', /^v1\.36\.\d+\+sheaf-\d+\.\d+\.\d+$/);
    await close();
  });

  it('the root lists the paths', async () => {
    const { get, close } = await serverWith(new HealthChecks());
    const { paths } = JSON.parse((await get('/')).text) as { paths: string[] };
    for (const path of ['/api', '/api/v1', '/apis/apps/v1', '/livez/ping', '/version', '/openid/v1/jwks'])
      assert.ok(paths.includes(path), path);
    assert.deepEqual(paths, [...paths].sort());
    await close();
  });

  it('tokens can be verified by others; each document has its one media type', async () => {
    const { get, close } = await serverWith(new HealthChecks());
    const document = JSON.parse((await get('/.well-known/openid-configuration')).text) as Record<
      string,
      unknown
    >;
    assert.equal(document['jwks_uri'], 'https://127.0.0.1:6443/openid/v1/jwks');
    const keys = await get('/openid/v1/jwks');
    assert.equal(keys.type, 'application/jwk-set+json');
    assert.equal((JSON.parse(keys.text) as { keys: unknown[] }).keys.length, 1);
    assert.equal((await get('/openid/v1/jwks', { accept: 'application/json' })).status, 406);
    await close();
  });
});
