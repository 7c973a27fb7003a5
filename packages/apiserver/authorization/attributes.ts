import type { User } from '../authentication/user.ts';

/** What is about to be done, as authorizers and SubjectAccessReview see it. */
export type AuthorizationAttributes = ResourceAttributes | NonResourceAttributes;

export interface ResourceAttributes {
  readonly isResource: true;
  readonly user: User;
  /** get list watch create update patch delete deletecollection, or special: bind escalate impersonate approve sign use … */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty at cluster scope. */
  readonly namespace: string;
  readonly name: string;
  /** The parsed selectors of list, watch and deletecollection (KEP-4601). `undefined` where the request has none. */
  readonly fieldSelector?: readonly SelectorRequirement[];
  readonly labelSelector?: readonly SelectorRequirement[];
}

export interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

export interface NonResourceAttributes {
  readonly isResource: false;
  readonly user: User;
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export interface AuthorizationDecision {
  readonly decision: 'allow' | 'deny' | 'no-opinion';
  readonly reason: string;
  readonly evaluationError?: string;
}

/** The first authorizer that allows or denies decides; if none does, the request is refused. */
export interface Authorizer {
  authorize(
    attributes: AuthorizationAttributes,
    signal?: AbortSignal,
  ): Promise<AuthorizationDecision> | AuthorizationDecision;
}
