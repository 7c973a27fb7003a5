import { StatusError } from '@sheaf/base';
import {
  type AuthenticationResult,
  type Authenticator,
  anonymousUser,
  type Credentials,
  type User,
} from './user.ts';

export interface ChainOptions {
  /** In the order they are asked; the first success wins. */
  readonly authenticators: readonly Authenticator[];
  /** Whether requests without credentials go on as `system:anonymous`. */
  readonly allowAnonymous: boolean;
}

/**
 * The whole of authentication. Wrong credentials do not end the search at once: a valid token beside an expired certificate
 * is accepted. Only if nothing succeeds, wrong credentials (or none, when anonymous requests are off) are a 401.
 */
export class AuthenticationChain {
  readonly #options: ChainOptions;

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  /** @throws StatusError 401 */
  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<User> {
    const objections: string[] = [];
    for (const authenticator of this.#options.authenticators) {
      const pending = authenticator.authenticate(credentials, signal);
      const result: AuthenticationResult = pending instanceof Promise ? await pending : pending;
      if (result === undefined) continue;
      if ('user' in result) return withAuthenticatedGroup(result.user);
      objections.push(result.invalid);
    }
    if (objections.length === 0 && this.#options.allowAnonymous) return anonymousUser;
    throw unauthorized(objections.join('; '));
  }
}

/** The 401 of the API server; it gives no details. The cause is for logs. */
export function unauthorized(cause: string): StatusError {
  return new StatusError({ reason: 'Unauthorized', message: 'Unauthorized', cause: new Error(cause) });
}

const authenticatedUsers = new WeakMap<User, User>();

/** Adds `system:authenticated`. The same user gives the same result, so that caches keyed by identity work. */
export function withAuthenticatedGroup(user: User): User {
  if (user.groups.includes('system:authenticated') || user.groups.includes('system:unauthenticated'))
    return user;
  let full = authenticatedUsers.get(user);
  if (!full) {
    full = { ...user, groups: [...user.groups, 'system:authenticated'] };
    authenticatedUsers.set(user, full);
  }
  return full;
}
