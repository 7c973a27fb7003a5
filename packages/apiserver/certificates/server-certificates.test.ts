import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { Secret, silentLogger } from '@sheaf/base';
import { parse } from 'yaml';
import { HandClock, seededRandom } from '../authentication/hand-clock.fixture.ts';
import { CertificateRenewal } from './certificate-renewal.ts';
import { subjectOfCertificate } from './distinguished-name.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { MemoryFiles } from './memory-files.fixture.ts';
import { fromPem, toPem } from './pem.ts';
import { openServerCertificates, type ServerCertificates } from './server-certificates.ts';
import { servingNames } from './serving-names.ts';

const day = 24 * 3600_000;

function setUp(hosts: readonly string[] = ['box.example', '192.0.2.7', 'fd00::7']) {
  const files = new MemoryFiles();
  const clock = new HandClock();
  const options = { files, clock, random: seededRandom, servingNames: servingNames({ hosts }) };
  const open = (more: readonly string[] = hosts) =>
    openServerCertificates({ ...options, servingNames: servingNames({ hosts: more }) });
  return { files, clock, options, open };
}

/** Opens again right away: a renewed set is whole and needs nothing further. */
async function createdBy(open: () => Promise<ServerCertificates>): Promise<readonly string[]> {
  return [...(await open()).created].sort();
}

const all = ['admin', 'apiserver', 'ca', 'front-proxy-ca', 'front-proxy-client', 'service-account'];

describe('openServerCertificates', () => {
  it('makes everything once', async () => {
    const { open, files } = setUp();
    assert.deepEqual(await createdBy(open), all);
    assert.equal(files.texts.size, 11);
    assert.deepEqual(await createdBy(open), []);
  });

  it('makes certificates that verify and are for their purpose', async () => {
    const { open } = setUp();
    const made = await open();
    const authority = new X509Certificate(made.authority.certificatePem);
    const serving = new X509Certificate(made.serving.certificatePem);
    const admin = new X509Certificate(made.admin.certificatePem);
    const proxy = new X509Certificate(made.frontProxyClient.certificatePem);
    assert.equal(authority.ca, true);
    assert.equal(authority.verify(authority.publicKey), true);
    for (const leaf of [serving, admin])
      assert.equal(leaf.checkIssued(authority) && leaf.verify(authority.publicKey), true);
    assert.equal(proxy.verify(new X509Certificate(made.frontProxyAuthority.certificatePem).publicKey), true);
    assert.equal(proxy.verify(authority.publicKey), false);
    assert.deepEqual(
      [serving.ca, serving.keyUsage, admin.keyUsage],
      [false, ['1.3.6.1.5.5.7.3.1'], ['1.3.6.1.5.5.7.3.2']],
    );
    for (const name of ['localhost', 'kubernetes.default.svc.cluster.local', 'box.example'])
      assert.equal(serving.checkHost(name), name);
    for (const address of ['127.0.0.1', '::1', '10.43.0.1', '192.0.2.7', 'fd00::7'])
      assert.equal(serving.checkIP(address), address);
    assert.equal(serving.checkHost('other'), undefined);
    const [der] = fromPem('CERTIFICATE', made.admin.certificatePem);
    assert.ok(der);
    assert.deepEqual(subjectOfCertificate(der), {
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
    });
    const lifeDays = (certificate: X509Certificate) =>
      Math.round((certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / day);
    assert.deepEqual([lifeDays(authority), lifeDays(serving)], [3650, 365]);
  });

  it('replaces leaves that are due, damaged, foreign or short of a name', async () => {
    const { open, files, clock } = setUp();
    const first = await open();
    clock.advance(240 * day);
    assert.deepEqual(await createdBy(open), []);
    clock.advance(5 * day);
    assert.deepEqual(await createdBy(open), ['admin', 'apiserver', 'front-proxy-client']);
    assert.deepEqual(await createdBy(() => open(['new.example'])), ['apiserver']);
    files.texts.set('admin.crt', 'junk');
    assert.deepEqual(await createdBy(() => open(['new.example'])), ['admin']);
    files.texts.set('admin.key', first.serving.privateKeyPem);
    assert.deepEqual(await createdBy(() => open(['new.example'])), ['admin']);
    const other = await setUp().open();
    files.texts.set('admin.crt', other.admin.certificatePem);
    files.texts.set('admin.key', other.admin.privateKeyPem);
    assert.deepEqual(await createdBy(() => open(['new.example'])), ['admin']);
    assert.equal((await open(['new.example'])).authority.certificatePem, first.authority.certificatePem);
  });

  it('never replaces an authority, and says what to do', async () => {
    const { open, files, clock } = setUp();
    await open();
    const texts = new Map(files.texts);
    files.texts.delete('ca.key');
    await assert.rejects(open, /ca\.crt has no ca\.key: put the key back/);
    files.texts.set('ca.key', texts.get('admin.key') ?? '');
    await assert.rejects(open, /cannot be used \(the private key does not belong to the certificate\)/);
    files.texts.set('ca.key', texts.get('ca.key') ?? '');
    clock.advance(3651 * day);
    await assert.rejects(open, /has expired: remove ca\.crt and ca\.key/);
  });

  it('gives leaves no longer life than their authority', async () => {
    const { open, clock } = setUp();
    const { authority } = await open();
    clock.advance(3600 * day);
    assert.equal((await open()).serving.notAfter, authority.notAfter);
  });
});

describe('CertificateRenewal', () => {
  it('hands out new certificates when they are due, and tries again after a failure', async () => {
    const { open, clock, options, files } = setUp();
    const renewed: ServerCertificates[] = [];
    const current = await open();
    const renewal = new CertificateRenewal(current, {
      ...options,
      logger: silentLogger,
      onRenewed: (set) => void renewed.push(set),
    });
    const pass = async (milliseconds: number) => {
      const step = 6 * 3600_000;
      for (let passed = 0; passed < milliseconds; passed += step) {
        clock.advance(step);
        await new Promise(setImmediate);
      }
    };
    await pass(240 * day);
    assert.equal(renewed.length, 0);
    const key = files.texts.get('ca.key') ?? '';
    files.texts.set('ca.key', 'junk');
    await pass(4 * day);
    assert.equal(renewed.length, 0);
    files.texts.set('ca.key', key);
    await pass(day);
    assert.deepEqual(
      renewed.map((set) => [...set.created].sort()),
      [['admin', 'apiserver', 'front-proxy-client']],
    );
    assert.notEqual(renewed[0]?.serving.certificatePem, current.serving.certificatePem);
    renewal.dispose();
    await pass(300 * day);
    assert.equal(renewed.length, 1);
  });
});

describe('kubeconfigText', () => {
  it('is a kubeconfig', () => {
    const text = kubeconfigText({
      server: 'https://127.0.0.1:6443',
      authorityPem: 'CA',
      credentials: { certificatePem: 'C', privateKeyPem: 'K' },
    });
    assert.deepEqual(parse(text), {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'default',
          cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': 'Q0E=' },
        },
      ],
      contexts: [{ name: 'default', context: { cluster: 'default', user: 'kubernetes-admin' } }],
      'current-context': 'default',
      preferences: {},
      users: [
        { name: 'kubernetes-admin', user: { 'client-certificate-data': 'Qw==', 'client-key-data': 'Sw==' } },
      ],
    });
    const odd = kubeconfigText({
      server: 's',
      authorityPem: '',
      clusterName: 'a: "b"\n#',
      userName: 'yes',
      credentials: { token: new Secret('x"y') },
    });
    const parsed = parse(odd) as {
      clusters: { name: string }[];
      users: { name: string; user: { token: string } }[];
    };
    assert.deepEqual(
      [parsed.clusters[0]?.name, parsed.users[0]],
      ['a: "b"\n#', { name: 'yes', user: { token: 'x"y' } }],
    );
  });
});

describe('pem', () => {
  it('goes there and back and ignores what is around', () => {
    const bytes = Buffer.from(
      'some bytes that need more than one line of sixty-four characters when encoded',
    );
    const pem = toPem('X', bytes);
    assert.deepEqual(fromPem('X', `text\n${pem}more${pem.replaceAll('\n', '\r\n')}`), [bytes, bytes]);
    assert.deepEqual(fromPem('Y', pem), []);
    assert.deepEqual(fromPem('X', '-----BEGIN X-----\nabc'), []);
  });
});
