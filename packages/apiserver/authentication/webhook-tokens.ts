import { type Clock, isJsonObject, type JsonObject, toError } from '@sheaf/base';
import { BoundedCache } from './bounded-cache.ts';
import { fetchJson, type HttpFetch } from './http-fetch.ts';
import { textsOf } from './jwt.ts';
import { type TokenAuthenticator, type TokenContext, tokenHash } from './token-authenticator.ts';
import type { AuthenticationResult, User } from './user.ts';

export interface WebhookTokensOptions {
  /** Where TokenReviews (authentication.k8s.io/v1) are posted. */
  readonly url: string;
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  /** This server's audiences. */
  readonly audiences: readonly string[];
  /** How long answers are kept, good and bad ones alike; two minutes if absent. */
  readonly cacheMs?: number;
  readonly timeoutMs?: number;
}

const cacheSize = 2048;

/** Lets another service judge tokens. Failures to reach it refuse the token and are not remembered. */
export class WebhookTokens implements TokenAuthenticator {
  readonly #options: WebhookTokensOptions;
  readonly #answers = new BoundedCache<{ readonly result: AuthenticationResult }>(cacheSize);

  constructor(options: WebhookTokensOptions) {
    this.#options = options;
  }

  async authenticateToken(token: string, context: TokenContext): Promise<AuthenticationResult> {
    const { clock, cacheMs = 120_000 } = this.#options;
    const audiences = context.audiences ?? this.#options.audiences;
    const key = `${tokenHash(token)} ${JSON.stringify(audiences)}`;
    const known = this.#answers.get(key, clock.now());
    if (known) return known.result;
    try {
      const result = await this.#ask(token, audiences, context.signal);
      this.#answers.set(key, { result }, clock.now() + cacheMs);
      return result;
    } catch (error) {
      return { invalid: `the token webhook failed: ${toError(error).message}` };
    }
  }

  async #ask(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<AuthenticationResult> {
    const review = await fetchJson(this.#options.url, {
      fetch: this.#options.fetch,
      clock: this.#options.clock,
      timeoutMs: this.#options.timeoutMs ?? 10_000,
      signal,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token, ...(audiences.length > 0 && { audiences: [...audiences] }) },
      },
    });
    const status = isJsonObject(review['status']) ? review['status'] : {};
    return readStatus(status, audiences);
  }
}

function readStatus(status: JsonObject, wanted: readonly string[]): AuthenticationResult {
  if (status['authenticated'] !== true) {
    const error = status['error'];
    return typeof error === 'string' && error !== '' ? { invalid: error } : undefined;
  }
  const user = isJsonObject(status['user']) ? readUser(status['user']) : undefined;
  if (!user) return { invalid: 'the token webhook named no user' };
  // A webhook that says nothing about audiences does not know them: the token is meant for this server only.
  const named = textsOf(status['audiences']);
  const audiences = named.length > 0 ? wanted.filter((audience) => named.includes(audience)) : wanted;
  return wanted.length > 0 && audiences.length === 0
    ? { invalid: 'the token is not meant for this audience' }
    : { user, audiences };
}

function readUser(info: JsonObject): User | undefined {
  const { username, uid, extra } = info;
  if (typeof username !== 'string' || username === '') return undefined;
  return {
    name: username,
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    groups: textsOf(info['groups']),
    ...(isJsonObject(extra) && {
      extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, textsOf(values)])),
    }),
  };
}
