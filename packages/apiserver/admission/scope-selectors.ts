import { type LabelMatcher, type LabelSelector, labelMatcherOf, matchesLabels } from '@sheaf/api';
import type { JsonValue, StatusError } from '@sheaf/base';
import type { LiveView } from '../storage/live-view.ts';
import { notFound } from '../verbs/errors.ts';
import type { AdmissionRequest } from './plugin.ts';

/** A selector as webhooks and policies have it: absent or empty selects everything. `undefined`: everything. */
export type Selection = LabelMatcher | undefined;

export function compileSelection(selector: JsonValue | undefined): Selection {
  if (selector === undefined || selector === null) return undefined;
  const matcher = labelMatcherOf(selector as unknown as LabelSelector);
  return matcher?.length === 0 ? undefined : matcher;
}

/**
 * Whether the namespace of a request is selected: for Namespaces their own labels decide, other objects at cluster scope
 * always are. @throws StatusError 404 if the namespace is missing
 */
export function selectsNamespace(
  selection: Selection,
  request: AdmissionRequest,
  namespaces: LiveView,
): boolean {
  if (selection === undefined) return true;
  const isNamespace = isNamespaceRequest(request);
  if (!isNamespace && request.namespace === '') return true;
  if (isNamespace && request.subresource === '' && request.object)
    return matchesLabels(selection, request.object.metadata.labels);
  const name = isNamespace ? request.name : request.namespace;
  const namespace = namespaces.get('', name);
  if (!namespace) throw missingNamespace(name);
  return matchesLabels(selection, namespace.metadata.labels);
}

export function isNamespaceRequest({ resource }: AdmissionRequest): boolean {
  return resource.resource === 'namespaces' && resource.group === '';
}

/** The old or the new object must have the labels. */
export function selectsObject(selection: Selection, { object, oldObject }: AdmissionRequest): boolean {
  if (selection === undefined) return true;
  return (
    (object !== undefined && matchesLabels(selection, object.metadata?.labels)) ||
    (oldObject !== undefined && matchesLabels(selection, oldObject.metadata?.labels))
  );
}

function missingNamespace(name: string): StatusError {
  return notFound({ group: '', plural: 'namespaces' }, name);
}

const exemptKinds: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Kinds that decide about admission are never subject to it, so that a broken one can be repaired. */
export function isExempt({ kind }: AdmissionRequest): boolean {
  return kind.group === 'admissionregistration.k8s.io' && exemptKinds.has(kind.kind);
}
