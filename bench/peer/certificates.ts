import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Paths of the key material of one measured server; all files are PEM with mode 0600 or stricter. */
export interface PeerCertificates {
  readonly ca: string;
  readonly caKey: string;
  readonly server: string;
  readonly serverKey: string;
  readonly admin: string;
  readonly adminKey: string;
  readonly serviceAccountKey: string;
}

const serverNames = [
  'DNS:localhost',
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
  'DNS:kubernetes.default.svc.cluster.local',
  'IP:127.0.0.1',
  'IP:10.0.0.1',
].join(',');

/** Makes a throw-away authority, a serving and an administrator's certificate and the key for service-account tokens with `openssl`. */
export async function makeCertificates(directory: string): Promise<PeerCertificates> {
  const path = (name: string): string => join(directory, name);
  const ca = path('ca.crt');
  const caKey = path('ca.key');
  await openssl(
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'],
    ['-subj', '/CN=peer-ca', '-keyout', caKey, '-out', ca],
  );
  const issue = async (name: string, subject: string, extensions: string): Promise<void> => {
    const request = path(`${name}.csr`);
    const extensionFile = path(`${name}.ext`);
    await writeFile(extensionFile, extensions);
    await openssl(
      ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ['-subj', subject, '-keyout', path(`${name}.key`), '-out', request],
    );
    await openssl(
      ['x509', '-req', '-in', request, '-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '30'],
      ['-extfile', extensionFile, '-out', path(`${name}.crt`)],
    );
  };
  await issue('server', '/CN=kube-apiserver', `subjectAltName=${serverNames}\nextendedKeyUsage=serverAuth\n`);
  await issue('admin', '/O=system:masters/CN=admin', 'extendedKeyUsage=clientAuth\n');
  await openssl(['genrsa', '-out', path('service-account.key'), '2048']);
  return {
    ca,
    caKey,
    server: path('server.crt'),
    serverKey: path('server.key'),
    admin: path('admin.crt'),
    adminKey: path('admin.key'),
    serviceAccountKey: path('service-account.key'),
  };
}

async function openssl(...parts: readonly (readonly string[])[]): Promise<void> {
  await execute('openssl', parts.flat());
}
