import { type Clock, toError } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import { BoundObjects } from './bound-objects.ts';
import { BoundedCache } from './bounded-cache.ts';
import { findTimeObjection, type Jwt, parseJwt, textsOf } from './jwt.ts';
import {
  legacyIssuer,
  readServiceAccountClaims,
  type ServiceAccountClaims,
} from './service-account-claims.ts';
import { serviceAccountUser } from './service-account-user.ts';
import type { SigningKeys } from './signing-keys.ts';
import { type TokenAuthenticator, type TokenContext, tokenHash } from './token-authenticator.ts';
import type { AuthenticationResult, User } from './user.ts';

export interface ServiceAccountTokensOptions {
  /** The first one is written into new tokens; all are accepted. */
  readonly issuers: readonly string[];
  /** This server's audiences. */
  readonly audiences: readonly string[];
  readonly keys: SigningKeys;
  readonly views: LiveViews;
  readonly clock: Clock;
}

/** A token whose signature is good. Times, audiences and bound objects are looked at in each use. */
interface VerifiedToken {
  readonly jwt: Jwt;
  readonly claims: ServiceAccountClaims;
  readonly audiences: readonly string[];
  readonly user: User;
}

const cacheSize = 4096;
const cacheMs = 10 * 60_000;

/** Accepts service-account tokens of this server, bound ones and those kept in Secrets. */
export class ServiceAccountTokens implements TokenAuthenticator {
  readonly #options: ServiceAccountTokensOptions;
  readonly #issuers: ReadonlySet<string>;
  readonly #boundObjects: BoundObjects;
  readonly #verified = new BoundedCache<VerifiedToken>(cacheSize);

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.#issuers = new Set([...options.issuers, legacyIssuer]);
    this.#boundObjects = new BoundObjects(options.views);
  }

  authenticateToken(token: string, context: Pick<TokenContext, 'audiences'>): AuthenticationResult {
    const now = this.#options.clock.now();
    const key = tokenHash(token);
    let verified = this.#verified.get(key, now);
    if (!verified) {
      const result = this.#verify(token);
      if (result === undefined || 'invalid' in result) return result;
      verified = result;
      this.#verified.set(key, verified, now + cacheMs);
    }
    return this.#accept(verified, token, context.audiences ?? this.#options.audiences);
  }

  #verify(token: string): VerifiedToken | { readonly invalid: string } | undefined {
    const jwt = parseJwt(token);
    const issuer = jwt?.claims['iss'];
    if (!jwt || typeof issuer !== 'string' || !this.#issuers.has(issuer)) return undefined;
    if (!this.#options.keys.isSignedByTrusted(jwt)) return { invalid: 'invalid signature' };
    try {
      const claims = readServiceAccountClaims(jwt.claims);
      const named = textsOf(jwt.claims['aud']);
      const audiences = named.length > 0 ? named : this.#options.audiences;
      return { jwt, claims, audiences, user: serviceAccountUser(claims.identity) };
    } catch (error) {
      return { invalid: toError(error).message };
    }
  }

  #accept(verified: VerifiedToken, token: string, wanted: readonly string[]): AuthenticationResult {
    const audiences = verified.audiences.filter((audience) => wanted.includes(audience));
    if (audiences.length === 0) {
      return {
        invalid: `token audiences ${JSON.stringify(verified.audiences)} is invalid for the target audiences ${JSON.stringify(wanted)}`,
      };
    }
    const now = this.#options.clock.now();
    const late = findTimeObjection(verified.jwt.claims, now);
    if (late !== undefined) return { invalid: `service account token ${late}` };
    const objection = this.#boundObjects.findObjection(verified.claims, token, now);
    return objection === undefined ? { user: verified.user, audiences } : { invalid: objection };
  }
}
