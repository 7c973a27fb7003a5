import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { JsonObject } from '@sheaf/base';
import { algorithmOf, isSignedWith, type Jwt, signJwt } from './jwt.ts';

interface TrustedKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The key that signs service-account tokens, and all keys whose tokens are accepted (older ones during a change). */
export class SigningKeys {
  readonly #privateKey: KeyObject;
  readonly #keyId: string;
  readonly #trusted: readonly TrustedKey[];

  /** PEM texts; the private key's own public key is trusted too. @throws Error if one cannot be read */
  constructor(privateKeyPem: string, furtherKeyPems: readonly string[] = []) {
    this.#privateKey = createPrivateKey(privateKeyPem);
    const keys = [createPublicKey(this.#privateKey), ...furtherKeyPems.map((pem) => createPublicKey(pem))];
    this.#trusted = keys.map((key) => ({ id: keyIdOf(key), key }));
    this.#keyId = keyIdOf(keys[0] ?? createPublicKey(this.#privateKey));
  }

  sign(claims: JsonObject): string {
    return signJwt(claims, this.#privateKey, this.#keyId);
  }

  /** With a key id only that key counts, without one any. */
  isSignedByTrusted(jwt: Jwt): boolean {
    return this.#trusted.some(
      (trusted) => (jwt.keyId === '' || jwt.keyId === trusted.id) && isSignedWith(jwt, trusted.key),
    );
  }

  /** Algorithms and public keys (RFC 7517) that others need to verify the tokens. */
  publicKeys(): JsonObject[] {
    return this.#trusted.map(({ id, key }) => ({
      use: 'sig',
      ...(key.export({ format: 'jwk' }) as JsonObject),
      kid: id,
      alg: algorithmOf(key),
    }));
  }
}

/** Derived from the key, one way: base64url of SHA-256 over the SubjectPublicKeyInfo. */
function keyIdOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64url');
}
