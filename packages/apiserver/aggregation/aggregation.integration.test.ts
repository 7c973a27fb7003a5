import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { StatusError } from '@sheaf/base';
import type { Client, ResourceRef } from '@sheaf/client';
import { HttpsUpstream } from '@sheaf/drivers/upstream';
import { startTestServer, TestClock, testCertificates } from '@sheaf/testkit';

const namespaces: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
const services: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
};
const apiServices: ResourceRef = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
  kind: 'APIService',
  namespaced: false,
};

/** An aggregated API server that tells who asks it. */
async function startRemote(): Promise<{ port: number; close(): void }> {
  const { serving, frontProxyAuthority } = await testCertificates();
  const server = createServer(
    {
      key: serving.privateKeyPem,
      cert: serving.certificatePem,
      ca: frontProxyAuthority.certificatePem,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/apis/things.example.com/v1') {
        response.end(
          JSON.stringify({
            kind: 'APIResourceList',
            apiVersion: 'v1',
            groupVersion: 'things.example.com/v1',
            resources: [
              {
                name: 'things',
                singularName: 'thing',
                namespaced: true,
                kind: 'Thing',
                verbs: ['get', 'list'],
              },
            ],
          }),
        );
        return;
      }
      if (request.url === '/openapi/v3') {
        const serverRelativeURL = '/openapi/v3/apis/things.example.com/v1?hash=ABC123';
        response.end(JSON.stringify({ paths: { 'apis/things.example.com/v1': { serverRelativeURL } } }));
        return;
      }
      const { headers } = request;
      response.end(
        JSON.stringify({
          kind: 'ThingList',
          apiVersion: 'things.example.com/v1',
          metadata: {},
          url: request.url,
          user: headers['x-remote-user'],
          group: headers['x-remote-group'],
          authorization: headers.authorization ?? null,
          items: [],
        }),
      );
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

async function until(check: () => Promise<boolean>, clock: TestClock): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await check()) return;
    clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('did not come');
}

async function available(client: Client, name: string): Promise<unknown> {
  const service = await client.get(apiServices, { name });
  const status = service['status'] as
    | { conditions?: { type: string; status: string; reason: string }[] }
    | undefined;
  const condition = status?.conditions?.find(({ type }) => type === 'Available');
  return condition && `${condition.status} ${condition.reason}`;
}

describe('aggregation', () => {
  it('lists what the server serves itself as local and available', async () => {
    const test = await startTestServer();
    try {
      await until(async () => (await test.client.list(apiServices)).items.length > 15, new TestClock());
      assert.equal(await available(test.client, 'v1.apps'), 'True Local');
    } finally {
      await test.close();
    }
  });

  it('hands requests to the server of a group as the user who makes them, and says why when it cannot', async () => {
    const clock = new TestClock();
    const { frontProxyClient } = await testCertificates();
    const upstream = new HttpsUpstream(frontProxyClient);
    const remote = await startRemote();
    const test = await startTestServer({ clock, upstream });
    try {
      const { client } = test;
      await client.create(namespaces, { metadata: { name: 'remote' } });
      await client.create(apiServices, {
        metadata: { name: 'v1.things.example.com' },
        spec: {
          group: 'things.example.com',
          version: 'v1',
          groupPriorityMinimum: 1000,
          versionPriority: 15,
          insecureSkipTLSVerify: true,
          service: { namespace: 'remote', name: 'api', port: remote.port },
        },
      });
      await until(
        async () => (await available(client, 'v1.things.example.com')) === 'False MissingEndpoints',
        clock,
      );
      await assert.rejects(
        client.raw('/apis/things.example.com/v1/things'),
        (error) =>
          StatusError.is(error, 'ServiceUnavailable') &&
          /service unavailable: service "api" in namespace "remote" does not exist/.test(error.message),
      );
      // Endpoints may not be on the loopback; an external name may.
      await client.create(services, {
        metadata: { name: 'api', namespace: 'remote' },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      });
      await until(async () => (await available(client, 'v1.things.example.com')) === 'True Passed', clock);
      const answer = await client.raw('/apis/things.example.com/v1/namespaces/x/things?limit=1', {
        headers: { authorization: 'Bearer secret' },
      });
      assert.deepEqual(
        [answer['url'], answer['user'], answer['group'], answer['authorization']],
        [
          '/apis/things.example.com/v1/namespaces/x/things?limit=1',
          'kubernetes-admin',
          'system:masters, system:authenticated',
          null,
        ],
      );
      const groups = (await client.raw('/apis'))['groups'] as { name: string }[];
      assert.ok(groups.some(({ name }) => name === 'things.example.com'));
      const { paths } = await client.raw('/openapi/v3');
      const documents = paths as Record<string, { serverRelativeURL: string }>;
      const listed = documents['apis/things.example.com/v1']?.serverRelativeURL ?? '';
      assert.equal(listed, '/openapi/v3/apis/things.example.com/v1?hash=ABC123');
      assert.ok(documents['apis/apps/v1']);
      const document = await client.raw(listed);
      assert.deepEqual([document['url'], document['user']], [listed, 'kubernetes-admin']);
      await client.delete(apiServices, { name: 'v1.things.example.com' });
      await until(
        async () => !('apis/things.example.com/v1' in ((await client.raw('/openapi/v3'))['paths'] as object)),
        clock,
      );
      await assert.rejects(client.raw(listed), (error) => StatusError.is(error, 'NotFound'));
    } finally {
      remote.close();
      upstream.dispose();
      await test.close();
    }
  });
});
