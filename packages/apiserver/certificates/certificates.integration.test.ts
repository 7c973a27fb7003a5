import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { disposable } from '@sheaf/base';
import { CertificateTrust } from '../authentication/certificate-trust.ts';
import { AuthenticationChain } from '../authentication/chain.ts';
import { clientCertificateAuthenticator } from '../authentication/client-certificate.ts';
import { seededRandom } from '../authentication/hand-clock.fixture.ts';
import { readCredentials } from '../authentication/read-credentials.ts';
import {
  fromPem,
  type KeyPair,
  openServerCertificates,
  type ServerCertificates,
  servingNames,
  signerNames,
  signRequest,
} from './index.ts';
import { MemoryFiles } from './memory-files.fixture.ts';

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: () => disposable(() => {}),
};

interface Answer {
  readonly user: string;
  readonly serial: string;
}

function ask(server: Server, authorityPem: string, client?: KeyPair): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const credentials = client && { cert: client.certificatePem, key: client.privateKeyPem };
    const options = {
      host: '127.0.0.1',
      port,
      path: '/',
      ca: authorityPem,
      agent: false as const,
      ...credentials,
    };
    request(options, (response) => {
      const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
      let user = '';
      response.setEncoding('utf8').on('data', (text: string) => (user += text));
      response.on('end', () => resolve({ user, serial: serialNumber }));
    })
      .on('error', reject)
      .end();
  });
}

function listen(made: ServerCertificates): Promise<Server> {
  const chain = new AuthenticationChain({
    authenticators: [
      clientCertificateAuthenticator(new CertificateTrust([made.authority.certificatePem], clock)),
    ],
    allowAnonymous: true,
  });
  const server = createServer(
    {
      cert: made.serving.certificatePem,
      key: made.serving.privateKeyPem,
      ca: made.authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (message, response) => {
      const certificate = (message.socket as TLSSocket).getPeerCertificate(false).raw as Buffer | undefined;
      chain
        .authenticate(readCredentials(message.headersDistinct, certificate), AbortSignal.timeout(5000))
        .then(
          (user) => response.end(`${user.name} ${user.groups.join(',')}`),
          (error: Error) => response.end(error.message),
        );
    },
  );
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

describe('certificates over TLS', () => {
  const cleanUps: (() => Promise<void> | void)[] = [];
  after(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });

  function open(files: MemoryFiles): Promise<ServerCertificates> {
    return openServerCertificates({
      files,
      clock,
      random: seededRandom,
      servingNames: servingNames({ hosts: [] }),
    });
  }

  it('serve, authenticate, and are swapped without a restart', async () => {
    const files = new MemoryFiles();
    const made = await open(files);
    const server = await listen(made);
    cleanUps.push(() => void server.close());
    const { certificatePem } = made.authority;
    const admin = await ask(server, certificatePem, made.admin);
    assert.equal(admin.user, 'kubernetes-admin system:masters,system:authenticated');
    assert.equal((await ask(server, certificatePem)).user, 'system:anonymous system:unauthenticated');
    const stranger = await open(new MemoryFiles());
    assert.equal((await ask(server, certificatePem, stranger.admin)).user, 'Unauthorized');
    await assert.rejects(ask(server, stranger.authority.certificatePem), /certificate/);

    files.texts.delete('apiserver.crt');
    const renewed = await open(files);
    assert.deepEqual(renewed.created, ['apiserver']);
    server.setSecureContext({
      cert: renewed.serving.certificatePem,
      key: renewed.serving.privateKeyPem,
      ca: renewed.authority.certificatePem,
    });
    const later = await ask(server, certificatePem, made.admin);
    assert.equal(later.user, admin.user);
    assert.notEqual(later.serial, admin.serial);
  });

  it('sign requests made by openssl, and openssl agrees', async (test) => {
    try {
      execFileSync('openssl', ['version']);
    } catch {
      return test.skip('openssl is not installed');
    }
    const made = await open(new MemoryFiles());
    const directory = await mkdtemp(join(tmpdir(), 'certificates-'));
    cleanUps.push(() => rm(directory, { recursive: true }));
    const subject = '/O=system:nodes/CN=system:node:n1';
    for (const key of ['rsa:2048', 'ed25519', 'ec']) {
      const curve = key === 'ec' ? ['-pkeyopt', 'ec_paramgen_curve:P-384'] : [];
      const names = ['-addext', 'subjectAltName=DNS:n1,IP:2001:db8::1'];
      const file = join(directory, 'request.pem');
      execFileSync(
        'openssl',
        [
          'req',
          '-new',
          '-nodes',
          '-newkey',
          key,
          ...curve,
          '-keyout',
          join(directory, 'k'),
          '-subj',
          subject,
          ...names,
          '-out',
          file,
        ],
        { stdio: 'ignore' },
      );
      const signed = signRequest(await readFile(file, 'utf8'), {
        signerName: signerNames.kubeletServing,
        usages: ['digital signature', 'server auth'],
        issuer: made.authority,
        issuerNotAfter: made.authority.notAfter,
        now: clock.now(),
        random: seededRandom,
      });
      assert.ok('certificatePem' in signed, JSON.stringify(signed));
      const text = execFileSync('openssl', ['x509', '-noout', '-text'], {
        input: signed.certificatePem,
        encoding: 'utf8',
      });
      assert.match(text, /DNS:n1, IP Address:2001:DB8:0:0:0:0:0:1/);
      assert.match(text, /O ?= ?system:nodes, CN ?= ?system:node:n1/);
    }
    const bundle = join(directory, 'ca.pem');
    await writeFile(bundle, made.authority.certificatePem);
    for (const { certificatePem } of [made.serving, made.admin]) {
      const verdict = execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', bundle], {
        input: certificatePem,
        encoding: 'utf8',
      });
      assert.match(verdict, /OK/);
    }
    assert.equal(fromPem('CERTIFICATE', made.serving.certificatePem).length, 1);
  });
});
