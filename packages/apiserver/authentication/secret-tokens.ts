import { timingSafeEqual } from 'node:crypto';
import type { KubeObject } from '@sheaf/api';
import type { Clock } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { secretData } from './bound-objects.ts';
import { type TokenAuthenticator, tokenHash } from './token-authenticator.ts';
import type { AuthenticationResult, User } from './user.ts';

/** Tokens given at start, e.g. the one-time admin secret. They are kept as hashes. */
export function staticTokens(tokens: Iterable<readonly [token: string, user: User]>): TokenAuthenticator {
  const users = new Map<string, User>();
  for (const [token, user] of tokens) users.set(tokenHash(token), user);
  return {
    authenticateToken(token) {
      const user = users.get(tokenHash(token));
      return user && { user };
    },
  };
}

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Bootstrap tokens: Secrets `bootstrap-token-<id>` in kube-system, by which new nodes ask for their certificates. */
export class BootstrapTokens implements TokenAuthenticator {
  readonly #secrets: LiveView;
  readonly #clock: Clock;

  constructor(views: LiveViews, clock: Clock) {
    this.#secrets = views.of('', 'secrets');
    this.#clock = clock;
  }

  authenticateToken(token: string): AuthenticationResult {
    const [, id = '', secret = ''] = tokenPattern.exec(token) ?? [];
    if (id === '') return undefined;
    const object = this.#secrets.get('kube-system', `bootstrap-token-${id}`);
    if (!object || !this.#isUsable(object) || secretData(object, 'token-id') !== id) return undefined;
    if (!isSame(secretData(object, 'token-secret'), secret)) return undefined;
    const groups = groupsOf(object);
    return groups && { user: { name: `system:bootstrap:${id}`, groups } };
  }

  #isUsable(secret: KubeObject): boolean {
    return (
      secret['type'] === 'bootstrap.kubernetes.io/token' &&
      secret.metadata.deletionTimestamp === undefined &&
      secretData(secret, 'usage-bootstrap-authentication') === 'true' &&
      !isExpired(secretData(secret, 'expiration'), this.#clock.now())
    );
  }
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A time that cannot be read counts as past. */
function isExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false;
  const time = Date.parse(expiration);
  return Number.isNaN(time) || time <= now;
}

/** `undefined` if an extra group is not one of the bootstrappers'. */
function groupsOf(secret: KubeObject): string[] | undefined {
  const extra = secretData(secret, 'auth-extra-groups');
  const groups = extra === '' ? [] : extra.split(',');
  if (!groups.every((group) => groupPattern.test(group))) return undefined;
  return [...new Set(['system:bootstrappers', ...groups])].sort();
}
