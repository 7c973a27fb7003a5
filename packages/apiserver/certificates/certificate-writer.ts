import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Random } from '@sheaf/base';
import {
  derBitString,
  derContext,
  derInteger,
  derOid,
  derSequence,
  derTime,
  elementAt,
  readDer,
  readOne,
} from './der.ts';
import { type DistinguishedName, encodeName } from './distinguished-name.ts';
import {
  type AlternativeNames,
  alternativeNames,
  authorityKeyIdentifier,
  basicConstraints,
  extendedKeyUsage,
  extensionList,
  keyUsage,
  keyUsageBit,
  subjectKeyIdentifier,
} from './extensions.ts';

/** The key that signs and the name it signs for. ECDSA P-256 or RSA. */
export interface Issuer {
  readonly privateKey: KeyObject;
  /** DER of the certificate authority; `undefined` when it is about to sign itself. */
  readonly certificate?: Uint8Array;
}

export interface CertificateContent {
  readonly subject: DistinguishedName;
  /** DER SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  /** Milliseconds since 1970; seconds are kept. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority?: boolean;
  /** OIDs of extended key usages. */
  readonly purposes?: readonly string[];
  readonly names?: AlternativeNames;
  /** Bits of `keyUsageBit`; by default what the kind of certificate needs. */
  readonly usageBits?: number;
}

const version3 = derContext(0, derInteger(Buffer.from([2])));
const ecdsaWithSha256 = derSequence(derOid('1.2.840.10045.4.3.2'));
const rsaWithSha256 = derSequence(derOid('1.2.840.113549.1.1.11'), Buffer.from([0x05, 0x00]));

/** Signs a certificate and gives its DER. The serial number has 127 random bits. */
export function writeCertificate(content: CertificateContent, issuer: Issuer, random: Random): Buffer {
  const algorithm = issuer.privateKey.asymmetricKeyType === 'rsa' ? rsaWithSha256 : ecdsaWithSha256;
  const subject = encodeName(content.subject);
  const authority = issuer.certificate ? authorityOf(issuer.certificate) : undefined;
  const body = derSequence(
    version3,
    derInteger(serialNumber(random)),
    algorithm,
    authority?.subject ?? subject,
    derSequence(derTime(content.notBefore), derTime(content.notAfter)),
    subject,
    content.publicKey,
    extensionList(extensionsOf(content, authority?.publicKey ?? content.publicKey)),
  );
  return derSequence(body, algorithm, derBitString(sign('sha256', body, issuer.privateKey)));
}

function serialNumber(random: Random): Uint8Array {
  const bytes = random.bytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function authorityOf(certificate: Uint8Array): { subject: Buffer; publicKey: Buffer } {
  const body = readDer(elementAt(readDer(readOne(certificate).content), 0).content);
  return { subject: elementAt(body, 5).raw, publicKey: elementAt(body, 6).raw };
}

function extensionsOf(content: CertificateContent, authorityKey: Uint8Array): Buffer[] {
  const isAuthority = content.isAuthority ?? false;
  const bits = content.usageBits ?? defaultUsage(isAuthority);
  const extensions = [basicConstraints(isAuthority), authorityKeyIdentifier(keyIdentifier(authorityKey))];
  if (bits !== 0) extensions.push(keyUsage(bits));
  if (isAuthority) extensions.push(subjectKeyIdentifier(keyIdentifier(content.publicKey)));
  if (content.purposes?.length) extensions.push(extendedKeyUsage(content.purposes));
  if (content.names && hasNames(content.names)) extensions.push(alternativeNames(content.names));
  return extensions;
}

function defaultUsage(isAuthority: boolean): number {
  return isAuthority
    ? keyUsageBit.digitalSignature | keyUsageBit.keyCertSign | keyUsageBit.crlSign
    : keyUsageBit.digitalSignature;
}

function hasNames(names: AlternativeNames): boolean {
  return (
    names.dnsNames.length + names.addresses.length + (names.emails?.length ?? 0) + (names.uris?.length ?? 0) >
    0
  );
}

/** RFC 7093 method 1: the left 160 bits of SHA-256 over the key's bits. */
function keyIdentifier(publicKey: Uint8Array): Buffer {
  const bits = elementAt(readDer(readOne(publicKey).content), 1).content.subarray(1);
  return createHash('sha256').update(bits).digest().subarray(0, 20);
}

/** A private key from PKCS#8, SEC1 or PKCS#1 PEM. */
export function readPrivateKey(pem: string): KeyObject {
  return createPrivateKey(pem);
}
