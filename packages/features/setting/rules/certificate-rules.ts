import { createPrivateKey, X509Certificate } from 'node:crypto';
import { jsonObjectOf, SettingProblem, stringField } from '@sheaf/api/setting/index';

const block = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** One certificate or more in PEM, and nothing that is none. */
export function certificates(text: string): void {
  const blocks = [...text.matchAll(block)];
  const rest = text.replaceAll(block, '').trim();
  const wayOut =
    'Paste the certificates as PEM: each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----.';
  if (blocks.length === 0 || rest !== '') throw new SettingProblem('it is no list of certificates', wayOut);
  for (const [index, [pem, type]] of blocks.entries())
    if (type !== 'CERTIFICATE' || !isCertificate(pem))
      throw new SettingProblem(`block ${index + 1} is no certificate`, wayOut);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).serialNumber !== '';
  } catch {
    return false;
  }
}

/** What the server is reached with: certificate and key, and who signed them. */
export function servingCertificates(text: string): void {
  const object = jsonObjectOf(text);
  const ca = stringField(object, 'ca');
  const certificate = stringField(object, 'publicCertificate');
  const key = stringField(object, 'privateKey');
  if (ca === '' && certificate === '' && key === '') return;
  if (ca !== '') within('ca', () => certificates(ca));
  within('publicCertificate', () => certificates(certificate));
  if (!isPrivateKey(key))
    throw new SettingProblem(
      'privateKey is no private key',
      'Paste the key of the certificate as PEM, without a password.',
    );
}

function within(field: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof SettingProblem)) throw error;
    throw new SettingProblem(`${field}: ${error.message}`, error.wayOut);
  }
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).type === 'private';
  } catch {
    return false;
  }
}
