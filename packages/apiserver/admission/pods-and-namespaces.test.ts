import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { StatusError } from '@sheaf/base';
import type { TestServer } from '@sheaf/testkit';
import { type Fields, kinds, named, outcome, pod, startAdmissionServer } from './admission-server.fixture.ts';

describe('NamespaceLifecycle', () => {
  let test: TestServer;
  before(async () => (test = await startAdmissionServer()));
  after(() => test.close());

  it('refuses to make things in a namespace that is missing', async () => {
    const work = test.client.create(kinds.configMaps, { metadata: { name: 'a', namespace: 'nowhere' } });
    await assert.rejects(work, (error: unknown) => {
      assert.ok(StatusError.is(error, 'NotFound'));
      assert.equal(error.message, 'namespaces "nowhere" not found');
      assert.deepEqual(error.details, { name: 'nowhere', kind: 'namespaces' });
      return true;
    });
  });

  it('refuses to make things in a namespace on its way out, and lets them be deleted', async () => {
    const { client } = test;
    await client.create(kinds.namespaces, { metadata: { name: 'ending', finalizers: ['example.com/hold'] } });
    await client.create(kinds.configMaps, { metadata: { name: 'old', namespace: 'ending' } });
    await client.delete(kinds.namespaces, { name: 'ending' });
    await client.patch(
      kinds.namespaces,
      { name: 'ending' },
      { type: 'merge', body: { status: { phase: 'Terminating' } }, subresource: 'status' },
    );
    const work = client.create(kinds.configMaps, { metadata: { name: 'new', namespace: 'ending' } });
    await assert.rejects(work, (error: unknown) => {
      assert.ok(StatusError.is(error, 'Forbidden'));
      assert.equal(
        error.message,
        'configmaps "new" is forbidden: unable to create new content in namespace ending because it is being terminated',
      );
      assert.deepEqual(error.details?.causes, [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace ending is being terminated',
          field: 'metadata.namespace',
        },
      ]);
      return true;
    });
    assert.equal(await outcome(client.delete(kinds.configMaps, { namespace: 'ending', name: 'old' })), 'ok');
  });

  it('keeps the namespaces of the system', async () => {
    const text = '403 namespaces "default" is forbidden: this namespace may not be deleted';
    assert.equal(await outcome(test.client.delete(kinds.namespaces, { name: 'default' })), text);
  });
});

describe('ServiceAccount', () => {
  let test: TestServer;
  before(async () => (test = await startAdmissionServer()));
  after(() => test.close());

  it('gives a pod the default account and its token', async () => {
    const made = await test.client.create(
      kinds.pods,
      pod('a', { initContainers: [{ name: 'i', image: 'x:1' }] }),
    );
    const spec = made['spec'] as Fields & {
      containers: Fields[];
      initContainers: Fields[];
      volumes: Fields[];
    };
    const name = String(spec.volumes[0]?.['name']);
    assert.match(name, /^kube-api-access-[a-z0-9]{5}$/);
    assert.equal(spec['serviceAccountName'], 'default');
    assert.equal(spec['serviceAccount'], 'default');
    const mount = { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
    assert.deepEqual(spec.containers[0]?.['volumeMounts'], [mount]);
    assert.deepEqual(spec.initContainers[0]?.['volumeMounts'], [mount]);
    const { sources } = (spec.volumes[0]?.['projected'] ?? {}) as { sources: Fields[] };
    assert.deepEqual(
      sources.map((source) => Object.keys(source)[0]),
      ['serviceAccountToken', 'configMap', 'downwardAPI'],
    );
    const fields = JSON.stringify(made.metadata.managedFields);
    assert.doesNotMatch(fields, /serviceAccountName|f:volumes/, 'what admission sets is nobody’s');
  });

  it('leaves pods alone that want no token', async () => {
    const made = await test.client.create(kinds.pods, pod('b', { automountServiceAccountToken: false }));
    assert.equal((made['spec'] as Fields)['volumes'], undefined);
  });

  it('refuses an account that is missing', async () => {
    assert.equal(
      await outcome(test.client.create(kinds.pods, pod('c', { serviceAccountName: 'ghost' }))),
      '403 pods "c" is forbidden: error looking up service account default/ghost: serviceaccount "ghost" not found',
    );
  });

  it('takes pull secrets from the account and holds pods to its Secrets where it says so', async () => {
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    await test.client.create(kinds.accounts, {
      metadata: { name: 'strict', namespace: 'default', annotations },
      imagePullSecrets: [{ name: 'registry' }],
      secrets: [{ name: 'mine' }],
    });
    const of = (name: string, secretName: string) =>
      test.client.create(
        kinds.pods,
        pod(name, {
          serviceAccountName: 'strict',
          volumes: [{ name: 'v', secret: { secretName } }],
        }),
      );
    const made = await of('d', 'mine');
    assert.deepEqual((made['spec'] as Fields)['imagePullSecrets'], [{ name: 'registry' }]);
    assert.equal(
      await outcome(of('e', 'other')),
      '403 pods "e" is forbidden: volume with secret.secretName="other" is not allowed because service account strict does not reference that secret',
    );
  });

  it('refuses mirror pods that reach for the API', async () => {
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    const mirror = (name: string, spec: Fields) => ({
      ...pod(name, spec),
      metadata: { ...named(name).metadata, annotations },
    });
    assert.equal(
      await outcome(test.client.create(kinds.pods, mirror('m', { serviceAccountName: 'default' }))),
      '403 pods "m" is forbidden: a mirror pod may not reference service accounts',
    );
  });
});
