import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { Random } from '@sheaf/base';
import {
  type CertificateContent,
  type Issuer,
  readPrivateKey,
  writeCertificate,
} from './certificate-writer.ts';
import type { AlternativeNames } from './extensions.ts';
import { toPem } from './pem.ts';

/** A certificate and its private key (PKCS#8), both PEM. */
export interface KeyPair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A certificate authority ready to sign. */
export interface Authority extends KeyPair, Issuer {
  readonly certificate: Buffer;
}

/** A new ECDSA P-256 private key, PKCS#8 PEM. */
export function newPrivateKeyPem(): string {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  }).privateKey;
}

export type LeafContent = Omit<CertificateContent, 'publicKey'>;

/** Makes a key and its certificate; without an issuer the key signs itself. */
export function newKeyPair(content: LeafContent, issuer: Issuer | undefined, random: Random): KeyPair {
  const privateKeyPem = newPrivateKeyPem();
  const privateKey = readPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const certificate = writeCertificate({ ...content, publicKey }, issuer ?? { privateKey }, random);
  return {
    certificatePem: toPem('CERTIFICATE', certificate),
    privateKeyPem,
    notBefore: content.notBefore,
    notAfter: content.notAfter,
  };
}

const parsedCertificates = new WeakMap<KeyPair, X509Certificate>();

/** The pair's certificate, parsed once. */
function certificateOf(pair: KeyPair): X509Certificate {
  let certificate = parsedCertificates.get(pair);
  if (!certificate) parsedCertificates.set(pair, (certificate = new X509Certificate(pair.certificatePem)));
  return certificate;
}

/** @throws Error if the texts are not a certificate and its key */
export function readKeyPair(certificatePem: string, privateKeyPem: string): KeyPair {
  const certificate = new X509Certificate(certificatePem);
  if (!certificate.checkPrivateKey(readPrivateKey(privateKeyPem))) {
    throw new Error('the private key does not belong to the certificate');
  }
  const pair = {
    certificatePem,
    privateKeyPem,
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
  };
  parsedCertificates.set(pair, certificate);
  return pair;
}

export function toAuthority(pair: KeyPair): Authority {
  const authority = {
    ...pair,
    certificate: certificateOf(pair).raw,
    privateKey: readPrivateKey(pair.privateKeyPem),
  };
  parsedCertificates.set(authority, certificateOf(pair));
  return authority;
}

/** Whether `pair` names `authority`'s subject and key as its issuer. Both are this server's own files. */
export function isIssuedBy(pair: KeyPair, authority: Authority): boolean {
  return certificateOf(pair).checkIssued(certificateOf(authority));
}

/** Whether the certificate is valid for each of the names. */
export function coversNames(pair: KeyPair, names: AlternativeNames): boolean {
  const certificate = certificateOf(pair);
  return (
    names.dnsNames.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined) &&
    names.addresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** The moment from which a certificate is to be replaced: two thirds of its life. */
export function renewalTime(pair: KeyPair): number {
  return pair.notBefore + Math.floor(((pair.notAfter - pair.notBefore) * 2) / 3);
}
