import { isIP } from 'node:net';
import {
  type DerElement,
  der,
  derBitString,
  derContext,
  derOid,
  derSequence,
  derTag,
  elementAt,
  readDer,
  readOid,
} from './der.ts';

/** Names a certificate is valid for. Addresses are in text form. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails?: readonly string[];
  readonly uris?: readonly string[];
}

export const extensionOid = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

export const serverAuthentication = '1.3.6.1.5.5.7.3.1';
export const clientAuthentication = '1.3.6.1.5.5.7.3.2';

/** Bits of KeyUsage, bit 0 first (most significant). */
export const keyUsageBit = {
  digitalSignature: 0x8000,
  contentCommitment: 0x4000,
  keyEncipherment: 0x2000,
  dataEncipherment: 0x1000,
  keyAgreement: 0x0800,
  keyCertSign: 0x0400,
  crlSign: 0x0200,
  encipherOnly: 0x0100,
  decipherOnly: 0x0080,
} as const;

const yes = der(derTag.boolean, Buffer.from([0xff]));

function extension(oid: string, critical: boolean, value: Uint8Array): Buffer {
  const octets = der(derTag.octetString, value);
  return critical ? derSequence(derOid(oid), yes, octets) : derSequence(derOid(oid), octets);
}

export function basicConstraints(isAuthority: boolean): Buffer {
  return extension(extensionOid.basicConstraints, true, isAuthority ? derSequence(yes) : derSequence());
}

export function keyUsage(bits: number): Buffer {
  let unused = 0;
  while (unused < 15 && ((bits >> unused) & 1) === 0) unused++;
  const bytes = unused >= 8 ? [bits >> 8] : [bits >> 8, bits & 0xff];
  return extension(extensionOid.keyUsage, true, derBitString(Buffer.from(bytes), unused % 8));
}

export function extendedKeyUsage(purposes: readonly string[]): Buffer {
  return extension(extensionOid.extendedKeyUsage, false, derSequence(...purposes.map(derOid)));
}

export function subjectKeyIdentifier(id: Uint8Array): Buffer {
  return extension(extensionOid.subjectKeyIdentifier, false, der(derTag.octetString, id));
}

export function authorityKeyIdentifier(id: Uint8Array): Buffer {
  return extension(extensionOid.authorityKeyIdentifier, false, derSequence(der(0x80, id)));
}

export function alternativeNames(names: AlternativeNames): Buffer {
  return extension(
    extensionOid.alternativeNames,
    false,
    derSequence(
      ...(names.emails ?? []).map((email) => der(0x81, Buffer.from(email))),
      ...names.dnsNames.map((name) => der(0x82, Buffer.from(name))),
      ...(names.uris ?? []).map((uri) => der(0x86, Buffer.from(uri))),
      ...names.addresses.map((address) => der(0x87, addressBytes(address))),
    ),
  );
}

/** 4 or 16 bytes of an address in text form. @throws Error if it is none */
export function addressBytes(address: string): Buffer {
  const family = isIP(address);
  if (family === 4) return Buffer.from(address.split('.').map(Number));
  if (family !== 6) throw new Error(`${JSON.stringify(address)} is not an IP address`);
  return ipv6Bytes(address);
}

function ipv6Bytes(address: string): Buffer {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const text = dotted ? `${dotted[1]}${hexPairs(dotted[2] ?? '')}` : address;
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...left, ...zeros, ...right].entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16) & 0xffff, index * 2);
  }
  return bytes;
}

function hexPairs(dotted: string): string {
  const hex = Buffer.from(dotted.split('.').map(Number)).toString('hex');
  return `${hex.slice(0, 4)}:${hex.slice(4)}`;
}

/** Text form of 4 or 16 address bytes; IPv6 as eight groups without compression. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new Error('an address has 4 or 16 bytes');
  const hex = Buffer.from(bytes).toString('hex');
  return (hex.match(/.{4}/g) ?? []).map((group) => group.replace(/^0{1,3}/, '')).join(':');
}

/** Reads the content of a subjectAltName extension. Kinds of names other than these four are refused. */
export function readAlternativeNames(value: Uint8Array): Required<AlternativeNames> {
  const names = {
    dnsNames: [] as string[],
    addresses: [] as string[],
    emails: [] as string[],
    uris: [] as string[],
  };
  const [sequence] = readDer(value);
  if (sequence?.tag !== derTag.sequence) throw new Error('subjectAltName is not a sequence');
  for (const name of readDer(sequence.content)) addName(names, name);
  return names;
}

function addName(
  names: { dnsNames: string[]; addresses: string[]; emails: string[]; uris: string[] },
  name: DerElement,
): void {
  const text = name.content.toString('latin1');
  if (name.tag === 0x81) names.emails.push(text);
  else if (name.tag === 0x82) names.dnsNames.push(text);
  else if (name.tag === 0x86) names.uris.push(text);
  else if (name.tag === 0x87) names.addresses.push(addressText(name.content));
  else throw new Error('subjectAltName holds an unsupported kind of name');
}

/** `Extensions ::= SEQUENCE OF Extension`, as OID → content of the value. */
export function readExtensions(extensions: DerElement): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const item of readDer(extensions.content)) {
    const parts = readDer(item.content);
    const value = elementAt(parts, parts.length - 1, derTag.octetString);
    found.set(readOid(elementAt(parts, 0, derTag.oid).content), value.content);
  }
  return found;
}

/** The list of extensions as certificates carry it. */
export function extensionList(extensions: readonly Uint8Array[]): Buffer {
  return derContext(3, derSequence(...extensions));
}
