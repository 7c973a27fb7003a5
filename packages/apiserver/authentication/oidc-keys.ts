import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Clock, isJsonObject, type JsonObject } from '@sheaf/base';
import { fetchJson, type HttpFetch } from './http-fetch.ts';
import { isSignedWith, type Jwt } from './jwt.ts';

export interface OidcKeysOptions {
  readonly issuerUrl: string;
  /** Where the discovery document is, if not below the issuer. */
  readonly discoveryUrl?: string;
  readonly fetch: HttpFetch;
  readonly clock: Clock;
}

interface IssuerKey {
  readonly id: string;
  readonly key: KeyObject;
}

const timeoutMs = 10_000;
const freshMs = 10 * 60_000;
/** An unknown key id asks the issuer anew, but no oftener than this. */
const retryMs = 10_000;
const maximumKeys = 100;

/** The public keys of an issuer: fetched when first needed, again when a token names an unknown key. */
export class OidcKeys {
  readonly #options: OidcKeysOptions;
  #keys: readonly IssuerKey[] = [];
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #pending: Promise<void> | undefined;

  constructor(options: OidcKeysOptions) {
    this.#options = options;
  }

  /** @throws Error if the issuer cannot be asked and its keys are not known */
  async isSigned(jwt: Jwt): Promise<boolean> {
    if (this.#age() > freshMs) await this.#refresh();
    if (this.#matches(jwt)) return true;
    if (this.#knows(jwt.keyId) || this.#age() < retryMs) return false;
    await this.#refresh();
    return this.#matches(jwt);
  }

  #age(): number {
    return this.#options.clock.monotonic() - this.#fetchedAt;
  }

  #knows(keyId: string): boolean {
    return this.#keys.some((key) => key.id === keyId);
  }

  #matches(jwt: Jwt): boolean {
    return this.#keys.some((key) => (jwt.keyId === '' || key.id === jwt.keyId) && isSignedWith(jwt, key.key));
  }

  /** Requests at the same time share one fetch; old keys stay if it fails. */
  async #refresh(): Promise<void> {
    this.#pending ??= this.#fetch().finally(() => {
      this.#pending = undefined;
    });
    try {
      await this.#pending;
    } catch (error) {
      if (this.#keys.length === 0) throw error;
      this.#fetchedAt = this.#options.clock.monotonic() - freshMs + retryMs;
    }
  }

  async #fetch(): Promise<void> {
    const { issuerUrl, discoveryUrl, fetch, clock } = this.#options;
    const base = issuerUrl.replace(/\/$/, '');
    const document = await fetchJson(discoveryUrl ?? `${base}/.well-known/openid-configuration`, {
      fetch,
      clock,
      timeoutMs,
    });
    if (document['issuer'] !== issuerUrl) {
      throw new Error(
        `the issuer calls itself ${JSON.stringify(document['issuer'])}, not ${JSON.stringify(issuerUrl)}`,
      );
    }
    const uri = document['jwks_uri'];
    if (typeof uri !== 'string' || !uri.startsWith('https://'))
      throw new Error('the issuer names no https jwks_uri');
    const set = await fetchJson(uri, { fetch, clock, timeoutMs });
    this.#keys = readKeys(set);
    this.#fetchedAt = clock.monotonic();
  }
}

function readKeys(set: JsonObject): IssuerKey[] {
  const keys = Array.isArray(set['keys']) ? set['keys'].slice(0, maximumKeys) : [];
  return keys.filter(isJsonObject).flatMap(readKey);
}

function readKey(jwk: JsonObject): IssuerKey[] {
  const { kid, use } = jwk;
  if (use !== undefined && use !== 'sig') return [];
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return [{ id: typeof kid === 'string' ? kid : '', key }];
  } catch {
    // Keys of kinds this server does not know are no reason to refuse the others.
    return [];
  }
}
