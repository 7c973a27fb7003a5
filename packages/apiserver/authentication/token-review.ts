import type { KubeObject } from '@sheaf/api';
import { badRequest, internalError, isJsonObject, type JsonObject } from '@sheaf/base';
import { withAuthenticatedGroup } from './chain.ts';
import { textsOf } from './jwt.ts';
import { authenticateToken, type TokenAuthenticator } from './token-authenticator.ts';
import type { User } from './user.ts';

export interface TokenReviewOptions {
  readonly authenticators: readonly TokenAuthenticator[];
  /** This server's audiences, for reviews that name none. */
  readonly audiences: readonly string[];
  readonly signal: AbortSignal;
}

/** Answers a create of a TokenReview. Whether the token is good is in `status`; the request itself succeeds. */
export async function reviewToken(review: KubeObject, options: TokenReviewOptions): Promise<KubeObject> {
  const spec = isJsonObject(review['spec']) ? review['spec'] : {};
  const token = spec['token'];
  if (typeof token !== 'string' || token === '')
    throw badRequest('token is required for TokenReview in authentication');
  const named = textsOf(spec['audiences']);
  const audiences = named.length > 0 ? named : options.audiences;
  const result = await authenticateToken(options.authenticators, token, {
    audiences,
    signal: options.signal,
  });
  if (result === undefined) return { ...review, status: { error: 'invalid bearer token', user: {} } };
  if ('invalid' in result) return { ...review, status: { error: result.invalid, user: {} } };
  const accepted = result.audiences ?? options.audiences.filter((audience) => audiences.includes(audience));
  if (audiences.length > 0 && accepted.length === 0)
    throw internalError('audience returned by authenticator is invalid');
  const user = userInfo(withAuthenticatedGroup(result.user));
  return { ...review, status: { authenticated: true, user, audiences: [...accepted] } };
}

/** Answers a create of a SelfSubjectReview (`kubectl auth whoami`). */
export function reviewSelf(review: KubeObject, user: User): KubeObject {
  return { ...review, status: { userInfo: userInfo(user) } };
}

/** `authentication.k8s.io/v1 UserInfo`. */
export function userInfo(user: User): JsonObject {
  const info: JsonObject = { username: user.name };
  if (user.uid !== undefined && user.uid !== '') info['uid'] = user.uid;
  if (user.groups.length > 0) info['groups'] = [...user.groups];
  const extra = Object.entries(user.extra ?? {});
  if (extra.length > 0) info['extra'] = Object.fromEntries(extra.map(([key, values]) => [key, [...values]]));
  return info;
}
