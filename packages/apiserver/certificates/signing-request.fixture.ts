import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { der, derBitString, derContext, derInteger, derOid, derSequence, derTag } from './der.ts';
import { encodeName } from './distinguished-name.ts';
import { type AlternativeNames, alternativeNames } from './extensions.ts';
import { toPem } from './pem.ts';

export interface FixtureRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly names?: Partial<AlternativeNames>;
}

/** A PKCS#10 request with a key of its own. */
export function signingRequestPem(content: FixtureRequest): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { commonName, organizations = [], names } = content;
  const body = derSequence(
    derInteger(Buffer.from([0])),
    encodeName({ commonName, organizations }),
    spki(publicKey),
    derContext(0, ...(names ? [extensionRequest({ dnsNames: [], addresses: [], ...names })] : [])),
  );
  const algorithm = derSequence(derOid('1.2.840.10045.4.3.2'));
  return toPem(
    'CERTIFICATE REQUEST',
    derSequence(body, algorithm, derBitString(sign('sha256', body, privateKey))),
  );
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function extensionRequest(names: AlternativeNames): Buffer {
  return derSequence(derOid('1.2.840.113549.1.9.14'), der(derTag.set, derSequence(alternativeNames(names))));
}
