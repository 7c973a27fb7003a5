import { type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@sheaf/base';

/** A JSON Web Token taken apart; nothing in it is to be believed before `isSignedWith`. */
export interface Jwt {
  readonly algorithm: string;
  readonly keyId: string;
  readonly claims: JsonObject;
  /** What the signature is over. */
  readonly signed: string;
  readonly signature: Buffer;
}

interface Algorithm {
  readonly hash: string | null;
  readonly keyType: string;
  readonly curve?: string;
  readonly isPss?: boolean;
}

const algorithms: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ['RS256', { hash: 'sha256', keyType: 'rsa' }],
  ['RS384', { hash: 'sha384', keyType: 'rsa' }],
  ['RS512', { hash: 'sha512', keyType: 'rsa' }],
  ['PS256', { hash: 'sha256', keyType: 'rsa', isPss: true }],
  ['PS384', { hash: 'sha384', keyType: 'rsa', isPss: true }],
  ['PS512', { hash: 'sha512', keyType: 'rsa', isPss: true }],
  ['ES256', { hash: 'sha256', keyType: 'ec', curve: 'prime256v1' }],
  ['ES384', { hash: 'sha384', keyType: 'ec', curve: 'secp384r1' }],
  ['ES512', { hash: 'sha512', keyType: 'ec', curve: 'secp521r1' }],
  ['EdDSA', { hash: null, keyType: 'ed25519' }],
]);

const maximumLength = 32 * 1024;
const pssPadding = 6;
const saltLengthOfDigest = -1;

/** Takes a compact token apart; `undefined` if it is none. Tokens with critical extensions are not understood. */
export function parseJwt(token: string): Jwt | undefined {
  if (token.length > maximumLength || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const [head = '', body = '', signature = ''] = token.split('.');
  const header = parseObject(head);
  const claims = parseObject(body);
  if (!header || !claims || header['crit'] !== undefined) return undefined;
  return {
    algorithm: textOf(header['alg']),
    keyId: textOf(header['kid']),
    claims,
    signed: `${head}.${body}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

function parseObject(encoded: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a claim; empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whether the key fits the token's algorithm and made its signature. */
export function isSignedWith(jwt: Jwt, key: KeyObject): boolean {
  const algorithm = algorithms.get(jwt.algorithm);
  if (!algorithm || !fits(key, algorithm)) return false;
  return verify(algorithm.hash, Buffer.from(jwt.signed), verifyInput(key, algorithm), jwt.signature);
}

function fits(key: KeyObject, algorithm: Algorithm): boolean {
  return (
    key.asymmetricKeyType === algorithm.keyType && key.asymmetricKeyDetails?.namedCurve === algorithm.curve
  );
}

function verifyInput(key: KeyObject, algorithm: Algorithm): Parameters<typeof verify>[2] {
  if (algorithm.isPss) return { key, padding: pssPadding, saltLength: saltLengthOfDigest };
  return algorithm.keyType === 'ec' ? { key, dsaEncoding: 'ieee-p1363' } : key;
}

/** The algorithm this server signs with, by key: RS256, ES256/384/512 or EdDSA. @throws Error for other keys */
export function algorithmOf(key: KeyObject): string {
  for (const [name, algorithm] of algorithms) if (fits(key, algorithm)) return name;
  throw new Error(`keys of type ${key.asymmetricKeyType} cannot sign tokens`);
}

/** A signed compact token. */
export function signJwt(claims: JsonObject, key: KeyObject, keyId: string): string {
  const name = algorithmOf(key);
  const header = encode({ alg: name, kid: keyId });
  const signed = `${header}.${encode(claims)}`;
  const algorithm = algorithms.get(name);
  const input = algorithm?.keyType === 'ec' ? ({ key, dsaEncoding: 'ieee-p1363' } as const) : key;
  const signature = sign(algorithm?.hash ?? null, Buffer.from(signed), input);
  return `${signed}.${signature.toString('base64url')}`;
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A claim that may be one text or a list of texts. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is string => typeof item === 'string');
}

const leewaySeconds = 60;

/** What is wrong with the times of a token, given `now` in milliseconds; a minute of difference is allowed. */
export function findTimeObjection(claims: JsonObject, now: number): string | undefined {
  const seconds = now / 1000;
  const { exp, nbf, iat } = claims;
  if (typeof nbf === 'number' && seconds + leewaySeconds < nbf) return 'is not valid yet';
  if (typeof exp === 'number' && seconds - leewaySeconds > exp) return 'has expired';
  if (typeof iat === 'number' && seconds + leewaySeconds < iat) return 'is issued in the future';
  return undefined;
}
