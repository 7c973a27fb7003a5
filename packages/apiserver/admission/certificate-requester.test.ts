import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRef } from '@sheaf/client';
import { startTestServer } from '@sheaf/testkit';

const signingRequests: ResourceRef = {
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
};

test('a signing request names the user who made it, whatever it claims', async () => {
  const server = await startTestServer();
  try {
    const client = server.clientAs({ name: 'jane', groups: ['system:masters'] });
    const pem =
      '-----BEGIN CERTIFICATE REQUEST-----\nMIHJMHECAQAwDzENMAsGA1UEAwwEamFuZTBZMBMGByqGSM49AgEGCCqGSM49AwEH\nA0IABDXGNWWilNA6heZKJ4dvgGfqiMBt0s8LR9+WJUMFP/r2i8g7RqGtc2J2wvTi\nEDQVJnWYhPMNrDwTbmMt3LtesCugADAKBggqhkjOPQQDAgNIADBFAiEAg3pLtmwZ\nR7E7TbqMn0ermtEm4h9b2a0nNIEm9A7ejlQCIG84J4trV5pyZ6vF2S1YU8HBEI6i\nhu9XqwkpJzDLrm9h\n-----END CERTIFICATE REQUEST-----\n';
    const spec = {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'example.com/any',
      usages: ['client auth'],
      username: 'root',
      groups: ['system:nodes'],
      uid: 'x',
      extra: { a: ['b'] },
    };
    const made = await client.create(signingRequests, { metadata: { name: 'mine' }, spec });
    const { username, groups, uid, extra } = made['spec'] as Record<string, unknown>;
    assert.deepEqual(
      { username, groups, uid, extra },
      { username: 'jane', groups: ['system:masters'], uid: undefined, extra: undefined },
    );
  } finally {
    await server.close();
  }
});
