import { invalidObject, type KubeObject } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import { type ReviewKind, validateReview } from './access-review-rules.ts';
import type { AuthorizationAttributes, Authorizer } from './attributes.ts';
import { nodeNameOf } from './node-authorizer.ts';
import { objectAt, textAt } from './object-field.ts';
import { stringsOf } from './policy-rule.ts';
import type { RbacAuthorizer } from './rbac-authorizer.ts';
import { type ReviewSelector, readFieldSelector, readLabelSelector } from './review-selectors.ts';

export interface AccessReviewOptions {
  readonly authorizer: Authorizer;
  /** Who asks; the subject of `SelfSubjectAccessReview`. */
  readonly user: User;
  /** The namespace in the path, for `LocalSubjectAccessReview`. */
  readonly namespace?: string;
  readonly signal?: AbortSignal;
}

/**
 * Answers a create of one of the three access reviews (authorization.k8s.io/v1): the review with its `status`.
 * @throws StatusError 422 for a malformed review, 400 for another namespace than the path's
 */
export async function reviewAccess(
  kind: ReviewKind,
  review: KubeObject,
  options: AccessReviewOptions,
): Promise<KubeObject> {
  const errors = validateReview(kind, review);
  if (errors.length > 0) throw invalidObject({ kind, group: 'authorization.k8s.io', name: '' }, errors);
  if (kind === 'LocalSubjectAccessReview') checkNamespace(review, options.namespace ?? '');
  const spec = objectAt(review, 'spec');
  const user = kind === 'SelfSubjectAccessReview' ? options.user : readSubject(spec);
  const question = readQuestion(spec, user);
  const decision = await options.authorizer.authorize(question.attributes, options.signal);
  const faults = [decision.evaluationError ?? '', ...question.faults].filter((fault) => fault !== '');
  const status: JsonObject = { allowed: decision.decision === 'allow' };
  if (decision.decision === 'deny') status['denied'] = true;
  if (decision.reason !== '') status['reason'] = decision.reason;
  if (faults.length > 0) status['evaluationError'] = faults.join('; ');
  return { ...review, status };
}

function checkNamespace(review: KubeObject, namespace: string): void {
  if (namespace === '') throw badRequest('namespace is required on this type: ');
  if (namespace !== review.metadata.namespace) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  }
}

function readSubject(spec: JsonObject): User {
  const uid = textAt(spec, 'uid');
  const extra = Object.entries(objectAt(spec, 'extra')).map(
    ([key, values]) => [key, stringsOf(values)] as const,
  );
  return {
    name: textAt(spec, 'user'),
    groups: stringsOf(spec['groups']),
    ...(uid !== '' && { uid }),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  };
}

interface Question {
  readonly attributes: AuthorizationAttributes;
  /** Parts that were ignored. */
  readonly faults: readonly string[];
}

function readQuestion(spec: JsonObject, user: User): Question {
  const asked = spec['resourceAttributes'];
  if (!isJsonObject(asked)) {
    const { verb, path } = readTexts(objectAt(spec, 'nonResourceAttributes'), ['verb', 'path']);
    return { attributes: { isResource: false, user, verb, path }, faults: [] };
  }
  const fields = readFieldSelector(selectorIn(asked, 'fieldSelector'));
  const labels = readLabelSelector(selectorIn(asked, 'labelSelector'));
  const texts = readTexts(asked, [
    'verb',
    'group',
    'version',
    'resource',
    'subresource',
    'namespace',
    'name',
  ]);
  return {
    attributes: {
      isResource: true,
      user,
      ...texts,
      version: texts.version || '*',
      ...(fields.requirements && { fieldSelector: fields.requirements }),
      ...(labels.requirements && { labelSelector: labels.requirements }),
    },
    faults: [...faultsOf(fields, 'fieldSelector'), ...faultsOf(labels, 'labelSelector')],
  };
}

function readTexts<Field extends string>(from: JsonObject, fields: readonly Field[]): Record<Field, string> {
  return Object.fromEntries(fields.map((field) => [field, textAt(from, field)])) as Record<Field, string>;
}

function selectorIn(asked: JsonObject, field: string): JsonObject | undefined {
  const selector = asked[field];
  return isJsonObject(selector) ? selector : undefined;
}

function faultsOf(selector: ReviewSelector, field: string): string[] {
  if (!selector.isBroken) return [];
  const part = selector.requirements ? 'partially ignored' : 'ignored';
  return [`spec.resourceAttributes.${field} ${part} due to parse error`];
}

/**
 * Answers a create of a SelfSubjectRulesReview (`kubectl auth can-i --list`): what the asking user may do in a namespace.
 * @throws StatusError 400 without a namespace
 */
export function reviewSelfRules(review: KubeObject, user: User, rbac: RbacAuthorizer): KubeObject {
  const namespace = textAt(objectAt(review, 'spec'), 'namespace');
  if (namespace === '') throw badRequest('no namespace on request');
  const { rules, errors } = rbac.rulesFor(user, namespace);
  const resourceRules: JsonObject[] = [];
  const nonResourceRules: JsonObject[] = [];
  for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } of rules) {
    if (resources.length > 0) {
      const names = resourceNames.length > 0 && { resourceNames: [...resourceNames] };
      resourceRules.push({
        verbs: [...verbs],
        apiGroups: [...apiGroups],
        resources: [...resources],
        ...names,
      });
    }
    if (nonResourceURLs.length > 0)
      nonResourceRules.push({ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] });
  }
  const isNode = nodeNameOf(user) !== undefined;
  const faults = isNode ? ['node authorizer does not support user rule resolution', ...errors] : errors;
  return {
    ...review,
    status: {
      resourceRules,
      nonResourceRules,
      incomplete: isNode,
      ...(faults.length > 0 && { evaluationError: faults.join(', ') }),
    },
  };
}
