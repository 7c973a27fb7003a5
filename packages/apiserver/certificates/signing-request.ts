import { createPublicKey, verify } from 'node:crypto';
import { type DerElement, derTag, elementAt, readDer, readOid, readOne } from './der.ts';
import { type DistinguishedName, decodeName } from './distinguished-name.ts';
import { type AlternativeNames, extensionOid, readAlternativeNames, readExtensions } from './extensions.ts';
import { fromPem } from './pem.ts';

/** What a PKCS#10 request asks for; its signature has been verified with its own key. */
export interface SigningRequest {
  readonly subject: DistinguishedName;
  /** DER SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  readonly names: Required<AlternativeNames>;
}

const extensionRequestOid = '1.2.840.113549.1.9.14';
const maximumBytes = 64 * 1024;
const noNames: Required<AlternativeNames> = { dnsNames: [], addresses: [], emails: [], uris: [] };

/** Hash of each accepted signature algorithm; `null` where the key decides (Ed25519). */
const signatureHashes: Readonly<Record<string, string | null>> = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.3.101.112': null,
};

/** Reads the one `CERTIFICATE REQUEST` of a PEM text. @throws Error with a reason a user can understand */
export function readSigningRequest(pem: string): SigningRequest {
  if (pem.length > maximumBytes) throw new Error('the certificate request is too large');
  const [request] = fromPem('CERTIFICATE REQUEST', pem);
  if (!request) throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const [body, algorithm, signature] = readDer(readOne(request, derTag.sequence).content);
  if (!body || !algorithm || signature?.tag !== derTag.bitString)
    throw new Error('the certificate request is not complete');
  const parts = readDer(body.content);
  const publicKey = elementAt(parts, 2, derTag.sequence).raw;
  verifySignature({ body: body.raw, algorithm, signature: signature.content.subarray(1), publicKey });
  return {
    subject: decodeName(elementAt(parts, 1, derTag.sequence)),
    publicKey,
    names: requestedNames(parts[3]),
  };
}

interface SignedBody {
  readonly body: Buffer;
  readonly algorithm: DerElement;
  readonly signature: Buffer;
  readonly publicKey: Buffer;
}

function verifySignature(signed: SignedBody): void {
  const oid = readOid(elementAt(readDer(signed.algorithm.content), 0, derTag.oid).content);
  const hash = signatureHashes[oid];
  if (hash === undefined) throw new Error(`signature algorithm ${oid} is not supported`);
  const key = createPublicKey({ key: signed.publicKey, format: 'der', type: 'spki' });
  if (!verify(hash, signed.body, key, signed.signature))
    throw new Error('the request is not signed with its own key');
}

function requestedNames(attributes: DerElement | undefined): Required<AlternativeNames> {
  if (attributes?.tag !== 0xa0) return noNames;
  for (const attribute of readDer(attributes.content)) {
    const parts = readDer(attribute.content);
    if (readOid(elementAt(parts, 0, derTag.oid).content) !== extensionRequestOid) continue;
    const extensions = readExtensions(readOne(elementAt(parts, 1, derTag.set).content, derTag.sequence));
    const names = extensions.get(extensionOid.alternativeNames);
    if (names) return readAlternativeNames(names);
  }
  return noNames;
}
