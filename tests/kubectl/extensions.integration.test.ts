import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { kubeconfigText } from '@sheaf/apiserver/certificates/kubeconfig';
import {
  type ExtensionServer,
  startExtensionServer,
} from '@sheaf/apiserver/extension/extension-server.fixture';
import { testCertificates } from '@sheaf/testkit';
import { type ProgramResult, runProgram } from '../program.ts';
import { findKubectl } from '../tools.ts';

const kubectl = await findKubectl();
const group = '/apis/subresources.kubevirt.io/v1/namespaces/default';

describe('kubectl and what features add', { skip: 'missing' in kubectl ? kubectl.missing : false }, () => {
  let server: ExtensionServer;
  let directory: string;
  before(async () => {
    server = await startExtensionServer();
    directory = await mkdtemp(join(tmpdir(), 'sheaf-extensions-'));
    const { admin, authority } = await testCertificates();
    const text = kubeconfigText({
      server: server.url,
      authorityPem: authority.certificatePem,
      credentials: { certificatePem: admin.certificatePem, privateKeyPem: admin.privateKeyPem },
    });
    await writeFile(join(directory, 'kubeconfig'), text, { mode: 0o600 });
  });
  after(async () => {
    await rm(directory, { recursive: true, force: true });
    await server.close();
  });

  const run = (args: readonly string[], input = ''): Promise<ProgramResult> => {
    assert.ok('path' in kubectl);
    const env = { KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory };
    return runProgram(kubectl.path, args, { env, input });
  };

  it('reads and writes subresources with --raw', async () => {
    const read = await run(['get', '--raw', `${group}/virtualmachineinstances/vm1/guestosinfo`]);
    assert.deepEqual(JSON.parse(read.out || read.err), {
      namespace: 'default',
      name: 'vm1',
      version: 'v1',
      user: 'kubernetes-admin',
    });
    const write = await run(
      ['replace', '--raw', `${group}/virtualmachines/vm1/start`, '-f', '-'],
      '{"paused":true}',
    );
    assert.deepEqual(
      [write.code, write.err],
      [0, 'Warning: it stands still until it is unpaused\n'],
      write.err,
    );
    const unknown = await run(['get', '--raw', `${group}/virtualmachineinstances/vm1/zork`]);
    assert.deepEqual(
      [unknown.code, unknown.err],
      [1, 'Error from server (NotFound): the server could not find the requested resource\n'],
    );
  });

  it('is told what a user may do', async () => {
    await run(['apply', '-f', '-'], JSON.stringify(viewerRole));
    await run(['create', 'clusterrolebinding', 'viewer', '--clusterrole=viewer', '--user=alice']);
    // `auth can-i VERB RESOURCE` finds no resources that have only subresources, here as on KubeVirt: it asks with what it is given.
    const may = async (verb: string, subresource: string): Promise<string> => {
      const review = accessReview({ verb, subresource });
      const answer = ['-o', 'jsonpath={.status.allowed}'];
      return (await run(['create', '--validate=false', '-f', '-', ...answer, '--as=alice'], review)).out;
    };
    assert.deepEqual([await may('get', 'console'), await may('get', 'vnc')], ['true', 'false']);
    assert.match(
      (await run(['auth', 'can-i', '--list', '--as=alice'])).out,
      /^virtualmachineinstances\.subresources\.kubevirt\.io\/console +\[\] +\[\] +\[get\]/m,
    );
    const refused = await run([
      'get',
      '--raw',
      `${group}/virtualmachineinstances/vm1/guestosinfo`,
      '--as=alice',
    ]);
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /^Error from server \(Forbidden\): .*User "alice" cannot get resource "virtualmachineinstances\/guestosinfo"/,
    );
  });

  it('lists the group, and all resources in spite of it', async () => {
    assert.match((await run(['api-versions'])).out, /^subresources\.kubevirt\.io\/v1$/m);
    const listed = await run(['api-resources', '-o', 'name']);
    assert.equal(listed.code, 0, listed.err);
    assert.match(listed.out, /^configmaps$/m);
    assert.match((await run(['get', 'apiservices'])).out, /^v1\.subresources\.kubevirt\.io +Local +True/m);
  });

  it('shows the way out of a refusal, what a rule has changed, and warnings', async () => {
    await run(['create', 'configmap', 'a', '--from-literal=address=10.0.0.1']);
    const labels = await run(['get', 'configmap', 'a', '-o', 'jsonpath={.metadata.labels}']);
    assert.equal(labels.out, '{"sample":"seen"}');
    const refused = await run(['create', 'configmap', 'b', '--from-literal=address=10.0.0.1']);
    assert.match(refused.err, /the address is used by a\. Choose another one, or delete that object\.\n$/);
    const dry = await run([
      'create',
      'configmap',
      'c',
      '--dry-run=server',
      '-o',
      'jsonpath={.metadata.labels.sample}',
    ]);
    assert.equal(dry.out, 'seen');
    await run(['annotate', 'configmap', 'a', 'sample/protected=yes']);
    const kept = await run(['delete', 'configmap', 'a']);
    assert.match(kept.err, /it is protected\. Remove the annotation sample\/protected first\.\n$/);
  });
});

function accessReview(asked: { readonly verb: string; readonly subresource: string }): string {
  const place = {
    namespace: 'default',
    group: 'subresources.kubevirt.io',
    resource: 'virtualmachineinstances',
    name: 'vm1',
  };
  return JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { ...place, ...asked } },
  });
}

const viewerRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'viewer' },
  rules: [
    {
      apiGroups: ['subresources.kubevirt.io'],
      resources: ['virtualmachineinstances/console'],
      verbs: ['get'],
    },
    // What every user of a whole control plane has.
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      verbs: ['create'],
    },
    { nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*'], verbs: ['get'] },
  ],
};
