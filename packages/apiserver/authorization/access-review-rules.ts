import { type FieldError, invalid, type KubeObject, required } from '@sheaf/api';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import { stringsOf } from './policy-rule.ts';

export type ReviewKind = 'SubjectAccessReview' | 'LocalSubjectAccessReview' | 'SelfSubjectAccessReview';

/** Everything wrong with an access review, as upstream reports it. */
export function validateReview(kind: ReviewKind, review: KubeObject): FieldError[] {
  const spec = objectAt(review, 'spec');
  return [
    ...validateSpec(spec, kind !== 'SelfSubjectAccessReview'),
    ...validateMetadata(kind, review),
    ...(kind === 'LocalSubjectAccessReview' ? validateLocal(spec, review.metadata.namespace ?? '') : []),
  ];
}

function* validateSpec(spec: JsonObject, namesSubject: boolean): Generator<FieldError> {
  const resource = spec['resourceAttributes'];
  const path = spec['nonResourceAttributes'];
  if (isJsonObject(resource) && isJsonObject(path)) {
    yield invalid(
      'spec.nonResourceAttributes',
      path,
      'cannot be specified in combination with resourceAttributes',
    );
  }
  if (!isJsonObject(resource) && !isJsonObject(path)) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    yield invalid('spec.resourceAttributes', null, detail);
  }
  if (namesSubject && textAt(spec, 'user') === '' && stringsOf(spec['groups']).length === 0) {
    yield invalid('spec.user', '', 'at least one of user or group must be specified');
  }
  if (!isJsonObject(resource)) return;
  yield* validateSelector(resource['fieldSelector'], 'spec.resourceAttributes.fieldSelector');
  yield* validateSelector(resource['labelSelector'], 'spec.resourceAttributes.labelSelector');
}

function* validateSelector(selector: unknown, field: string): Generator<FieldError> {
  if (!isJsonObject(selector)) return;
  const raw = textAt(selector, 'rawSelector');
  const requirements = objectsAt(selector, 'requirements');
  if (raw !== '' && requirements.length > 0) {
    yield invalid(`${field}.rawSelector`, raw, 'may not specified at the same time as requirements');
  }
  if (raw === '' && requirements.length === 0) {
    yield required(
      `${field}.requirements`,
      `when ${field} is specified, requirements or rawSelector is required`,
    );
  }
  for (const [index, requirement] of requirements.entries()) {
    yield* validateRequirement(requirement, `${field}.requirements[${index}]`);
  }
}

/** Operators that this server does not know are let pass: newer clients may use them. */
function* validateRequirement(requirement: JsonObject, field: string): Generator<FieldError> {
  const operator = textAt(requirement, 'operator');
  const count = stringsOf(requirement['values']).length;
  if (textAt(requirement, 'key') === '') yield required(`${field}.key`, 'must be specified');
  if ((operator === 'In' || operator === 'NotIn') && count === 0) {
    yield required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0) {
    const message = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    yield { type: 'FieldValueForbidden', field: `${field}.values`, message };
  }
}

function validateMetadata(kind: ReviewKind, review: KubeObject): FieldError[] {
  const isLocal = kind === 'LocalSubjectAccessReview';
  const { managedFields: _fields, namespace, ...metadata } = review.metadata;
  const rest = isLocal ? metadata : { ...metadata, namespace };
  const isEmpty = Object.values(rest).every((value) => value === undefined || value === null || value === '');
  if (isEmpty) return [];
  return [
    invalid('metadata', review.metadata, isLocal ? 'must be empty except for namespace' : 'must be empty'),
  ];
}

function* validateLocal(spec: JsonObject, namespace: string): Generator<FieldError> {
  const resource = spec['resourceAttributes'];
  if (isJsonObject(resource) && textAt(resource, 'namespace') !== namespace) {
    const given = textAt(resource, 'namespace');
    yield invalid('spec.resourceAttributes.namespace', given, 'must match metadata.namespace');
  }
  const path = spec['nonResourceAttributes'];
  if (isJsonObject(path))
    yield invalid('spec.nonResourceAttributes', path, 'disallowed on this kind of request');
}
