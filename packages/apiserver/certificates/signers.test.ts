import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HandClock, seededRandom } from '../authentication/hand-clock.fixture.ts';
import { readDer, readOid } from './der.ts';
import { subjectOfCertificate } from './distinguished-name.ts';
import { newKeyPair, toAuthority } from './key-pair.ts';
import { fromPem, toPem } from './pem.ts';
import { isBuiltInSigner, signerNames, signRequest } from './signers.ts';
import { signingRequestPem } from './signing-request.fixture.ts';
import { readSigningRequest } from './signing-request.ts';

const now = new HandClock().now();
const hour = 3600_000;
const authority = toAuthority(
  newKeyPair(
    {
      subject: { commonName: 'ca', organizations: [] },
      isAuthority: true,
      notBefore: now - hour,
      notAfter: now + 3650 * 24 * hour,
    },
    undefined,
    seededRandom,
  ),
);

function sign(pem: string, signerName: string, usages: readonly string[], expirationSeconds?: number) {
  return signRequest(pem, {
    signerName,
    usages,
    expirationSeconds,
    issuer: authority,
    issuerNotAfter: authority.notAfter,
    now,
    random: seededRandom,
  });
}

function refusal(result: ReturnType<typeof signRequest>): string {
  return 'refused' in result ? result.refused : 'signed';
}

const client = ['digital signature', 'client auth'];
const server = ['digital signature', 'key encipherment', 'server auth'];
const node1 = { commonName: 'system:node:n1', organizations: ['system:nodes'] };

describe('signRequest', () => {
  it('signs for the asked subject, names, purposes and time', async () => {
    const pem = signingRequestPem({ ...node1, names: { dnsNames: ['n1'], addresses: ['192.0.2.1'] } });
    const result = sign(pem, signerNames.kubeletServing, server, 24 * 3600);
    assert.ok('certificatePem' in result);
    const certificate = new X509Certificate(result.certificatePem);
    const [der] = fromPem('CERTIFICATE', result.certificatePem);
    assert.ok(der);
    assert.deepEqual(subjectOfCertificate(der), {
      commonName: 'system:node:n1',
      organizations: ['system:nodes'],
    });
    assert.equal(certificate.verify(new X509Certificate(authority.certificatePem).publicKey), true);
    assert.deepEqual(
      [certificate.checkHost('n1'), certificate.checkIP('192.0.2.1'), certificate.ca],
      ['n1', '192.0.2.1', false],
    );
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.equal(certificate.validFromDate.getTime(), now - 5 * 60_000);
    assert.equal(certificate.validToDate.getTime(), now + 24 * hour - 5 * 60_000);
  });

  it('bounds the time: ten minutes at least, a year at most, never beyond the authority', async () => {
    const pem = signingRequestPem({ commonName: 'jane' });
    const end = (seconds?: number, issuerNotAfter = authority.notAfter) => {
      const result = signRequest(pem, {
        signerName: signerNames.apiClient,
        usages: client,
        expirationSeconds: seconds,
        issuer: authority,
        issuerNotAfter,
        now,
        random: seededRandom,
      });
      assert.ok('certificatePem' in result);
      return (new X509Certificate(result.certificatePem).validToDate.getTime() - now) / 1000;
    };
    assert.deepEqual(
      [end(1), end(3600), end(), end(1e9), end(undefined, now + hour)],
      [600, 3600, 365 * 86400 - 300, 365 * 86400 - 300, 3600],
    );
  });

  it('refuses what a signer does not sign', async () => {
    const jane = signingRequestPem({ commonName: 'jane', organizations: ['dev'] });
    const node = signingRequestPem(node1);
    const named = signingRequestPem({ ...node1, names: { dnsNames: ['n1'] } });
    const mail = signingRequestPem({ ...node1, names: { dnsNames: ['n1'], emails: ['a@b'] } });
    const master = signingRequestPem({ commonName: 'eve', organizations: ['system:masters'] });
    const table: [string, string, readonly string[], string][] = [
      [jane, signerNames.apiClient, client, 'signed'],
      [
        jane,
        signerNames.apiClient,
        ['digital signature'],
        'missing required usage for client certificate: client auth',
      ],
      [
        jane,
        signerNames.apiClient,
        [...client, 'server auth'],
        'invalid usage for client certificate: server auth',
      ],
      [
        master,
        signerNames.apiClient,
        client,
        'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
      ],
      [node, signerNames.kubeletClient, client, 'signed'],
      [node, signerNames.kubeletClient, [...client, 'key encipherment'], 'signed'],
      [
        node,
        signerNames.kubeletClient,
        server,
        'usages did not match [client auth digital signature key encipherment]',
      ],
      [
        node,
        signerNames.kubeletClient,
        ['client auth'],
        'usages did not match [client auth digital signature key encipherment]',
      ],
      [named, signerNames.kubeletClient, client, 'DNS subjectAltNames are not allowed'],
      [jane, signerNames.kubeletClient, client, 'subject organization is not system:nodes'],
      [
        signingRequestPem({ ...node1, commonName: 'n1' }),
        signerNames.kubeletClient,
        client,
        'subject common name does not begin with system:node:',
      ],
      [named, signerNames.kubeletServing, server, 'signed'],
      [node, signerNames.kubeletServing, server, 'DNS or IP subjectAltName is required'],
      [mail, signerNames.kubeletServing, server, 'Email subjectAltNames are not allowed'],
      [jane, signerNames.legacyUnknown, ['code signing'], 'signed'],
      [jane, signerNames.legacyUnknown, ['nonsense'], 'unrecognized usage: "nonsense"'],
      [jane, 'example.com/other', client, 'signer "example.com/other" is not served here'],
      ['junk', signerNames.apiClient, client, 'PEM block type must be CERTIFICATE REQUEST'],
    ];
    for (const [pem, signer, usages, expected] of table)
      assert.equal(refusal(sign(pem, signer, usages)), expected);
    assert.deepEqual(
      [isBuiltInSigner(signerNames.kubeletServing), isBuiltInSigner('example.com/other')],
      [true, false],
    );
  });

  it('refuses a request that is not signed with its own key', async () => {
    const pem = signingRequestPem({ commonName: 'jane' });
    const [der] = fromPem('CERTIFICATE REQUEST', pem);
    assert.ok(der);
    const at = der.indexOf(Buffer.from('jane'));
    der[at] = 'x'.charCodeAt(0);
    assert.equal(
      refusal(sign(toPem('CERTIFICATE REQUEST', der), signerNames.apiClient, client)),
      'the request is not signed with its own key',
    );
  });

  it('answers whatever comes in', async () => {
    const [der] = fromPem(
      'CERTIFICATE REQUEST',
      signingRequestPem({ ...node1, names: { dnsNames: ['n1'] } }),
    );
    assert.ok(der);
    const mutated = fc
      .array(fc.tuple(fc.nat(der.length - 1), fc.nat(255)), { maxLength: 4 })
      .map((changes) => {
        const copy = Buffer.from(der);
        for (const [at, byte] of changes) copy[at] = byte;
        return copy;
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 100 })), (bytes) => {
        assert.ok(
          typeof refusal(sign(toPem('CERTIFICATE REQUEST', bytes), signerNames.kubeletServing, server)) ===
            'string',
        );
      }),
      { numRuns: 200 },
    );
    assert.throws(() => readSigningRequest('x'.repeat(70_000)), /too large/);
    assert.throws(
      () => readDer(Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff])),
      /longer than its container/,
    );
    assert.equal(readOid(Buffer.from([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d])), '1.2.840.113549');
  });
});
