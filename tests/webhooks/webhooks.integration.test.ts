import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { type JsonObject, StatusError } from '@sheaf/base';
import { type ResourceRef, resources } from '@sheaf/client';
import { HttpsWebhookClient } from '@sheaf/drivers/webhook';
import { startTestServer, type TestServer, testCertificates } from '@sheaf/testkit';
import { answer, startWebhookServer, type WebhookServer } from './webhook-server.ts';

const validating: ResourceRef = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

describe('webhooks over HTTPS', () => {
  let test: TestServer;
  let server: WebhookServer;
  let authority = '';
  const client = new HttpsWebhookClient();

  before(async () => {
    const certificates = await testCertificates();
    const { privateKeyPem: key, certificatePem: cert } = certificates.serving;
    authority = Buffer.from(certificates.authority.certificatePem).toString('base64');
    server = await startWebhookServer({ key, cert });
    test = await startTestServer({ webhookClient: client.call });
    await test.client.create(resources.namespaces, { metadata: { name: 'default' } });
  });
  after(async () => {
    client.dispose();
    await test.close();
    await server.close();
  });
  beforeEach(async () => {
    if (await test.client.find(validating, { name: 'v' }))
      await test.client.delete(validating, { name: 'v' });
  });

  const install = (clientConfig: JsonObject, timeoutSeconds = 5): Promise<KubeObject> =>
    test.client.create(validating, {
      metadata: { name: 'v' },
      webhooks: [
        {
          name: 'hook.example.com',
          clientConfig,
          timeoutSeconds,
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
  const direct = (path = '/'): JsonObject => ({
    url: `https://127.0.0.1:${server.port}${path}`,
    caBundle: authority,
  });
  let serial = 0;
  const write = async (): Promise<string> => {
    try {
      await test.client.create(resources.configMaps, {
        metadata: { name: `c${serial++}`, namespace: 'default' },
      });
      return 'ok';
    } catch (error) {
      assert.ok(StatusError.is(error), String(error));
      return error.message;
    }
  };
  const failure =
    /^Internal error occurred: failed calling webhook "hook\.example\.com": failed to call webhook: /;

  it('keeps its connections, also when the other side closes some', async () => {
    await install(direct());
    server.respond = (review, response) => answer(review, response, { allowed: true });
    const before = server.connections;
    for (let round = 0; round < 5; round++) assert.equal(await write(), 'ok');
    assert.equal(server.connections, before + 1);
    server.dropIdle();
    assert.equal(await write(), 'ok');
  });

  it('reaches the service that a configuration names, by its name in the certificate', async () => {
    await test.client.create(resources.services, {
      metadata: { name: 'kubernetes', namespace: 'default' },
      spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 443 }] },
    });
    const service = { namespace: 'default', name: 'kubernetes', port: server.port, path: '/check' };
    await install({ service, caBundle: authority });
    let seen: (string | undefined)[] = [];
    server.respond = (review, response, { url, headers }) => {
      seen = [url, headers.host];
      answer(review, response, { allowed: true });
    };
    assert.equal(await write(), 'ok');
    assert.deepEqual(seen, ['/check?timeout=5s', `kubernetes.default.svc:${server.port}`]);
  });

  it('believes only the authority that the configuration names', async () => {
    await install({ url: `https://127.0.0.1:${server.port}/` });
    assert.match(await write(), /x509: certificate signed by unknown authority$/);
  });

  it('believes only certificates for the name that is asked for', async () => {
    await install({ url: `https://localhost.localdomain:${server.port}/`, caBundle: authority });
    assert.match(await write(), failure);
  });

  it('gives up at the time limit', async () => {
    await install(direct(), 1);
    server.respond = () => {};
    const begun = performance.now();
    assert.match(await write(), /\?timeout=1s": context deadline exceeded$/);
    assert.ok(performance.now() - begun < 3000);
  });

  it('says that nobody answers there', async () => {
    await install({ url: 'https://127.0.0.1:1/', caBundle: authority });
    assert.match(
      await write(),
      /Post "https:\/\/127\.0\.0\.1:1\/\?timeout=5s": dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
    );
  });

  it('takes errors, redirects and nonsense for failures', async () => {
    await install(direct());
    const answers: readonly (readonly [number, string, RegExp])[] = [
      [500, 'broken', /an error on the server \("broken"\) has prevented the request from succeeding$/],
      [404, '', /the server could not find the requested resource$/],
      [302, '', /status 302/],
      [200, 'no json', /couldn't get version\/kind; json parse error/],
      [200, 'x'.repeat(17 * 1024 * 1024), /the answer is longer than/],
    ];
    for (const [status, text, expected] of answers) {
      server.respond = (_review, response) => {
        response.writeHead(status, { location: 'https://127.0.0.1:1/' });
        response.end(text);
      };
      const message = await write();
      assert.match(message, failure);
      assert.match(message, expected);
    }
  });

  it('converts custom resources between versions', async () => {
    const schema = {
      openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    };
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
    await test.client.create(resources.customResourceDefinitions, {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names,
        versions: [
          { name: 'v1', served: true, storage: true, schema },
          { name: 'v2', served: true, storage: false, schema },
        ],
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: direct('/convert'), conversionReviewVersions: ['v1'] },
        },
      },
    });
    server.respond = (review, response) => {
      const { desiredAPIVersion, objects } = review['request'] as {
        desiredAPIVersion: string;
        objects: JsonObject[];
      };
      const [from, to] = desiredAPIVersion.endsWith('v2') ? ['size', 'width'] : ['width', 'size'];
      const convertedObjects = objects.map(({ [from]: value, ...rest }) => ({
        ...rest,
        apiVersion: desiredAPIVersion,
        [to]: value ?? 0,
      }));
      answer(review, response, { result: { status: 'Success' }, convertedObjects });
    };
    const widgets = (version: string): ResourceRef => ({
      group: 'example.com',
      version,
      plural: 'widgets',
      kind: 'Widget',
      namespaced: true,
    });
    await test.client.create(widgets('v2'), { metadata: { name: 'w', namespace: 'default' }, width: 3 });
    const ref = { namespace: 'default', name: 'w' };
    assert.equal((await test.client.get(widgets('v1'), ref))['size'], 3);
    assert.equal((await test.client.get(widgets('v2'), ref))['width'], 3);
    server.respond = (review, response) =>
      answer(review, response, { result: { status: 'Failed', message: 'no idea' } });
    await assert.rejects(
      test.client.create(widgets('v2'), { metadata: { name: 'x', namespace: 'default' } }),
      /conversion webhook for .* failed: no idea/,
    );
  });
});
