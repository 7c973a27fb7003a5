import { type Clock, type JsonObject, type JsonValue, toError } from '@sheaf/base';
import { BoundedCache } from './bounded-cache.ts';
import type { HttpFetch } from './http-fetch.ts';
import { findTimeObjection, type Jwt, parseJwt, textsOf } from './jwt.ts';
import { OidcKeys } from './oidc-keys.ts';
import { type TokenAuthenticator, type TokenContext, tokenHash } from './token-authenticator.ts';
import type { AuthenticationResult, User } from './user.ts';

/** A claim and what is put before its value. */
export interface ClaimMapping {
  readonly claim: string;
  readonly prefix: string;
}

/** One issuer of an AuthenticationConfiguration (`jwt[]`), without CEL expressions. */
export interface OidcIssuer {
  readonly url: string;
  readonly discoveryUrl?: string;
  /** The token must be meant for one of them. */
  readonly audiences: readonly string[];
  /** A user name from the claim `email` counts only if `email_verified` is not false. */
  readonly username: ClaimMapping;
  readonly groups?: ClaimMapping;
  readonly uidClaim?: string;
  /** Extra key → claim. */
  readonly extra?: Readonly<Record<string, string>>;
  readonly requiredClaims?: Readonly<Record<string, string>>;
}

export interface OidcTokensOptions {
  readonly issuers: readonly OidcIssuer[];
  /** This server's audiences: what a review is told about an accepted token. */
  readonly audiences: readonly string[];
  readonly fetch: HttpFetch;
  readonly clock: Clock;
}

interface VerifiedToken {
  readonly jwt: Jwt;
  readonly user: User;
}

const cacheSize = 4096;
const cacheMs = 5 * 60_000;

/** Accepts ID tokens of the configured issuers. */
export class OidcTokens implements TokenAuthenticator {
  readonly #options: OidcTokensOptions;
  readonly #issuers: ReadonlyMap<string, { readonly issuer: OidcIssuer; readonly keys: OidcKeys }>;
  readonly #verified = new BoundedCache<VerifiedToken>(cacheSize);

  /** @throws Error if an issuer's URL is not https or is given twice */
  constructor(options: OidcTokensOptions) {
    this.#options = options;
    const { fetch, clock } = options;
    const issuers = new Map<string, { issuer: OidcIssuer; keys: OidcKeys }>();
    for (const issuer of options.issuers) {
      if (!issuer.url.startsWith('https://')) throw new Error(`issuer ${issuer.url} must be an https URL`);
      if (issuers.has(issuer.url)) throw new Error(`issuer ${issuer.url} is configured twice`);
      const { url: issuerUrl, discoveryUrl } = issuer;
      const keys = new OidcKeys({
        issuerUrl,
        fetch,
        clock,
        ...(discoveryUrl !== undefined && { discoveryUrl }),
      });
      issuers.set(issuer.url, { issuer, keys });
    }
    this.#issuers = issuers;
  }

  async authenticateToken(token: string, context: TokenContext): Promise<AuthenticationResult> {
    const now = this.#options.clock.now();
    const key = tokenHash(token);
    const known = this.#verified.get(key, now);
    const verified = known ?? (await this.#verify(token));
    if (verified === undefined || 'invalid' in verified) return verified;
    if (!known) this.#verified.set(key, verified, now + cacheMs);
    const late = findTimeObjection(verified.jwt.claims, now);
    if (late !== undefined) return { invalid: `oidc: token ${late}` };
    const wanted = context.audiences ?? this.#options.audiences;
    const audiences = this.#options.audiences.filter((audience) => wanted.includes(audience));
    return wanted.length > 0 && audiences.length === 0
      ? { invalid: 'oidc: the token is not meant for this audience' }
      : { user: verified.user, audiences };
  }

  async #verify(token: string): Promise<VerifiedToken | { readonly invalid: string } | undefined> {
    const jwt = parseJwt(token);
    const entry = typeof jwt?.claims['iss'] === 'string' ? this.#issuers.get(jwt.claims['iss']) : undefined;
    if (!jwt || !entry) return undefined;
    try {
      if (!(await entry.keys.isSigned(jwt)))
        return { invalid: 'oidc: verify token: failed to verify signature' };
      return { jwt, user: readUser(jwt.claims, entry.issuer) };
    } catch (error) {
      return { invalid: `oidc: ${toError(error).message}` };
    }
  }
}

function readUser(claims: JsonObject, issuer: OidcIssuer): User {
  checkClaims(claims, issuer);
  const name = claims[issuer.username.claim];
  if (typeof name !== 'string' || name === '')
    throw new Error(`claim ${issuer.username.claim} names no user`);
  const uid = issuer.uidClaim === undefined ? undefined : claims[issuer.uidClaim];
  const extra = Object.entries(issuer.extra ?? {})
    .map(([key, claim]) => [key, textsOf(claims[claim])] as const)
    .filter(([, values]) => values.length > 0);
  return {
    name: issuer.username.prefix + name,
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    groups: readGroups(claims, issuer.groups),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  };
}

function readGroups(claims: JsonObject, mapping: ClaimMapping | undefined): string[] {
  if (!mapping) return [];
  return textsOf(claims[mapping.claim]).map((group) => mapping.prefix + group);
}

function checkClaims(claims: JsonObject, issuer: OidcIssuer): void {
  if (typeof claims['exp'] !== 'number') throw new Error('the token has no expiry');
  const audiences = textsOf(claims['aud']);
  if (!issuer.audiences.some((audience) => audiences.includes(audience))) {
    throw new Error(
      `expected audience in ${JSON.stringify(issuer.audiences)} got ${JSON.stringify(audiences)}`,
    );
  }
  if (issuer.username.claim === 'email' && isUnverified(claims['email_verified']))
    throw new Error('email not verified');
  for (const [claim, value] of Object.entries(issuer.requiredClaims ?? {})) {
    if (claims[claim] !== value) throw new Error(`required claim ${claim} does not match the expected value`);
  }
}

function isUnverified(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== true;
}
