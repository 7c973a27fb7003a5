import type { User } from '../../authentication/user.ts';
import type {
  AuthorizationAttributes,
  AuthorizationDecision,
  ResourceAttributes,
} from '../../authorization/attributes.ts';
import { boolType, opaqueType, stringType } from '../checker/type.ts';
import { listCreateCost, structCreateCost, traversalFactor } from '../values/cost.ts';
import { failure } from '../values/failure.ts';
import { Opaque } from '../values/value.ts';
import { method, type Overload } from './overload.ts';
import { parseFieldSelector, parseLabelSelector } from './selector-text.ts';

/** Answers authorization questions at once. It may throw to end the evaluation. */
export interface DecisionSource {
  decide(attributes: AuthorizationAttributes): AuthorizationDecision;
}

/** Authorization values are equal only if they are the same. */
abstract class AuthorizationValue extends Opaque {
  equals(other: Opaque): boolean {
    return this === other;
  }
}

/** The variable `authorizer`: asks for one user. */
export class AuthorizerValue extends AuthorizationValue {
  readonly type = 'kubernetes.authorization.Authorizer';
  readonly user: User;
  readonly source: DecisionSource;
  constructor(user: User, source: DecisionSource) {
    super();
    this.user = user;
    this.source = source;
  }
}

class PathCheck extends AuthorizationValue {
  readonly type = 'kubernetes.authorization.PathCheck';
  readonly authorizer: AuthorizerValue;
  readonly path: string;
  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck extends AuthorizationValue {
  readonly type = 'kubernetes.authorization.GroupCheck';
  readonly authorizer: AuthorizerValue;
  readonly group: string;
  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

type ResourceQuestion = Pick<
  ResourceAttributes,
  'group' | 'resource' | 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector'
>;

/** A question about a resource, to which only the verb is missing. */
export class ResourceCheck extends AuthorizationValue {
  readonly type = 'kubernetes.authorization.ResourceCheck';
  readonly authorizer: AuthorizerValue;
  readonly question: ResourceQuestion;
  constructor(authorizer: AuthorizerValue, question: ResourceQuestion) {
    super();
    this.authorizer = authorizer;
    this.question = question;
  }

  with(change: Partial<ResourceQuestion>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.question, ...change });
  }
}

class Decision extends AuthorizationValue {
  readonly type = 'kubernetes.authorization.Decision';
  readonly answer: AuthorizationDecision;
  constructor(answer: AuthorizationDecision) {
    super();
    this.answer = answer;
  }
}

export const authorizerType = opaqueType<AuthorizerValue>('kubernetes.authorization.Authorizer');
const pathCheckType = opaqueType<PathCheck>('kubernetes.authorization.PathCheck');
const groupCheckType = opaqueType<GroupCheck>('kubernetes.authorization.GroupCheck');
export const resourceCheckType = opaqueType<ResourceCheck>('kubernetes.authorization.ResourceCheck');
const decisionType = opaqueType<Decision>('kubernetes.authorization.Decision');
export const authorizerTypes = [
  authorizerType,
  pathCheckType,
  groupCheckType,
  resourceCheckType,
  decisionType,
];

/** A check is so dear that one expression can afford two. */
const checkCost = 350_000;
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function serviceAccount(authorizer: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (name.length > 253 || !subdomain.test(name)) throw failure('Invalid service account name');
  if (!label.test(namespace)) throw failure('Invalid service account namespace');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return new AuthorizerValue(
    { name: `system:serviceaccount:${namespace}:${name}`, groups },
    authorizer.source,
  );
}

function pathCheck(authorizer: AuthorizerValue, path: string): PathCheck {
  if (path.trim() === '') throw failure('path must not be empty');
  return new PathCheck(authorizer, path);
}

function resourceCheck({ authorizer, group }: GroupCheck, resource: string): ResourceCheck {
  if (resource.trim() === '') throw failure('resource must not be empty');
  return new ResourceCheck(authorizer, { group, resource, subresource: '', namespace: '', name: '' });
}

function checkPath({ authorizer, path }: PathCheck, verb: string): Decision {
  const { user, source } = authorizer;
  return new Decision(source.decide({ isResource: false, user, verb, path }));
}

function checkResource({ authorizer, question }: ResourceCheck, verb: string): Decision {
  const { user, source } = authorizer;
  return new Decision(source.decide({ isResource: true, user, verb, version: '*', ...question }));
}

function selectorCost(text: string): number {
  const requirements = Math.ceil(text.length * 0.5);
  return (
    listCreateCost +
    Math.ceil(text.length * traversalFactor) +
    requirements * (listCreateCost + structCreateCost)
  );
}

function withSelector(name: 'fieldSelector' | 'labelSelector'): Overload[] {
  const parse = name === 'fieldSelector' ? parseFieldSelector : parseLabelSelector;
  return [
    method({
      params: [resourceCheckType, stringType],
      result: resourceCheckType,
      call: (check, text) => {
        const requirements = parse(text);
        return requirements ? check.with({ [name]: requirements }) : check;
      },
      cost: (_, text) => selectorCost(text),
    }),
  ];
}

function withText(name: 'subresource' | 'namespace' | 'name'): Overload[] {
  return [
    method({
      params: [resourceCheckType, stringType],
      result: resourceCheckType,
      call: (check, text) => check.with({ [name]: text }),
    }),
  ];
}

/** What can be asked of the variable `authorizer`. */
export const authorizerLibrary: Readonly<Record<string, readonly Overload[]>> = {
  path: [method({ params: [authorizerType, stringType], result: pathCheckType, call: pathCheck })],
  group: [
    method({
      params: [authorizerType, stringType],
      result: groupCheckType,
      call: (authorizer, group) => new GroupCheck(authorizer, group),
    }),
  ],
  serviceAccount: [
    method({
      params: [authorizerType, stringType, stringType],
      result: authorizerType,
      call: serviceAccount,
    }),
  ],
  resource: [
    method({ params: [groupCheckType, stringType], result: resourceCheckType, call: resourceCheck }),
  ],
  subresource: withText('subresource'),
  namespace: withText('namespace'),
  name: withText('name'),
  fieldSelector: withSelector('fieldSelector'),
  labelSelector: withSelector('labelSelector'),
  check: [
    method({
      params: [pathCheckType, stringType],
      result: decisionType,
      call: checkPath,
      cost: () => checkCost,
    }),
    method({
      params: [resourceCheckType, stringType],
      result: decisionType,
      call: checkResource,
      cost: () => checkCost,
    }),
  ],
  errored: [
    method({
      params: [decisionType],
      result: boolType,
      call: ({ answer }) => answer.evaluationError !== undefined,
    }),
  ],
  error: [
    method({
      params: [decisionType],
      result: stringType,
      call: ({ answer }) => answer.evaluationError ?? '',
    }),
  ],
  allowed: [
    method({ params: [decisionType], result: boolType, call: ({ answer }) => answer.decision === 'allow' }),
  ],
  reason: [method({ params: [decisionType], result: stringType, call: ({ answer }) => answer.reason })],
};
