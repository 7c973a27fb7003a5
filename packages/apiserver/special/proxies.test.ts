import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '@sheaf/base';
import type { Client, ResourceRef } from '@sheaf/client';
import { startTestServer, TestClock } from '@sheaf/testkit';

function core(plural: string, kind: string, namespaced = true): ResourceRef {
  return { group: '', version: 'v1', plural, kind, namespaced };
}

async function withObjects(run: (client: Client) => Promise<void>): Promise<void> {
  const test = await startTestServer({ clock: new TestClock() });
  const { client } = test;
  try {
    await client.create(core('namespaces', 'Namespace', false), { metadata: { name: 'x' } });
    const metadata = { name: 'a', namespace: 'x' };
    await client.create(core('serviceaccounts', 'ServiceAccount'), {
      metadata: { name: 'default', namespace: 'x' },
    });
    await client.create(core('pods', 'Pod'), {
      metadata,
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await client.create(core('services', 'Service'), {
      metadata,
      spec: { ports: [{ name: 'web', port: 80 }] },
    });
    await client.create(core('nodes', 'Node', false), { metadata: { name: 'n' } });
    await run(client);
  } finally {
    await test.close();
  }
}

async function refusal(client: Client, path: string): Promise<string> {
  const error = await client.raw(path).then(
    () => assert.fail(`${path} was answered`),
    (thrown: unknown) => thrown,
  );
  assert.ok(StatusError.is(error), String(error));
  return `${error.code} ${error.message}`;
}

describe('proxies', () => {
  it('tell what is not there', () =>
    withObjects(async (client) => {
      const base = '/api/v1/namespaces/x';
      assert.equal(await refusal(client, `${base}/pods/none/proxy/`), '404 pods "none" not found');
      assert.equal(await refusal(client, `${base}/services/none:80/proxy/`), '404 services "none" not found');
      assert.equal(await refusal(client, '/api/v1/nodes/none/proxy/healthz'), '404 nodes "none" not found');
    }));

  it('tell what cannot be reached', () =>
    withObjects(async (client) => {
      const base = '/api/v1/namespaces/x';
      assert.equal(
        await refusal(client, `${base}/pods/a:8080/proxy/path?resourceVersion=nonsense`),
        `503 error trying to reach service: pod "a" has no address, because it is not running; see the pod's conditions`,
      );
      for (const name of ['a', 'a:80', 'a:web', 'http:a:web'])
        assert.equal(
          await refusal(client, `${base}/services/${name}/proxy/`),
          '503 no endpoints available for service "a"',
        );
      assert.equal(
        await refusal(client, `${base}/services/a:81/proxy/`),
        '503 no service port 81 found for service "a"',
      );
      assert.equal(
        await refusal(client, '/api/v1/nodes/n/proxy/metrics'),
        '503 error trying to reach service: node "n" has no kubelet that this Sheaf could ask',
      );
    }));

  it('refuse names that they cannot read', () =>
    withObjects(async (client) => {
      for (const name of ['ftp:a:80', 'a:b:c:d', ':80'])
        assert.equal(
          await refusal(client, `/api/v1/namespaces/x/pods/${name}/proxy/`),
          `400 invalid pod request ${JSON.stringify(name)}`,
        );
    }));

  it('are authorized as what they are', async () => {
    const test = await startTestServer({ clock: new TestClock() });
    try {
      const nobody = test.clientAs({ name: 'nobody', groups: ['system:authenticated'] });
      assert.match(
        await refusal(nobody, '/api/v1/nodes/n/proxy/'),
        /^403 nodes "n" is forbidden: User "nobody" cannot get resource "nodes\/proxy"/,
      );
    } finally {
      await test.close();
    }
  });
});
