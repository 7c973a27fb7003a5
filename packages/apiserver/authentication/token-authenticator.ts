import { hash } from 'node:crypto';
import type { AuthenticationResult, Authenticator, Credentials } from './user.ts';

export interface TokenContext {
  /** Whom the token must be meant for; `undefined`: this API server. */
  readonly audiences?: readonly string[];
  readonly signal: AbortSignal;
}

/** Knows one kind of bearer token. The meaning of the result is that of `Authenticator`. */
export interface TokenAuthenticator {
  authenticateToken(
    token: string,
    context: TokenContext,
  ): Promise<AuthenticationResult> | AuthenticationResult;
}

const maximumTokenLength = 64 * 1024;

/** Asks the authenticators in order until one accepts. `undefined` only if none of them knows the token. */
export async function authenticateToken(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  context: TokenContext,
): Promise<AuthenticationResult> {
  if (token.length > maximumTokenLength) return { invalid: 'the bearer token is too long' };
  const objections: string[] = [];
  for (const authenticator of authenticators) {
    const pending = authenticator.authenticateToken(token, context);
    const result = pending instanceof Promise ? await pending : pending;
    if (result === undefined) continue;
    if ('user' in result) return result;
    objections.push(result.invalid);
  }
  return objections.length === 0 ? undefined : { invalid: objections.join('; ') };
}

/** `Authorization: Bearer` as one link of the chain: a token nobody accepts is invalid. */
export function bearerTokenAuthenticator(authenticators: readonly TokenAuthenticator[]): Authenticator {
  return {
    async authenticate(credentials: Credentials, signal: AbortSignal): Promise<AuthenticationResult> {
      const token = credentials.bearerToken;
      if (token === undefined || token === '') return undefined;
      return (
        (await authenticateToken(authenticators, token, { signal })) ?? { invalid: 'invalid bearer token' }
      );
    },
  };
}

/** How caches name a token without keeping it. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'base64');
}
