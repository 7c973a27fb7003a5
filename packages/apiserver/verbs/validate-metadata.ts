import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  forbiddenField,
  invalid,
  type KubeObject,
  labelValueErrors,
  type NameRule,
  type ObjectMeta,
  type OwnerReference,
  pathSegmentErrors,
  qualifiedNameErrors,
  required,
  tooLong,
} from '@sheaf/api';
import type { Resource } from '../registry/resource.ts';

const annotationBytesLimit = 256 * 1024;
const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

const nameChecks: Readonly<Record<NameRule, (name: string) => string[]>> = {
  'dns-subdomain': dns1123SubdomainErrors,
  'dns-label': dns1123LabelErrors,
  'dns-1035-label': dns1035LabelErrors,
  'path-segment': pathSegmentErrors,
};

/** What is wrong with an object's metadata, whatever its kind. */
export function metadataErrors(resource: Resource, object: KubeObject): FieldError[] {
  const { metadata } = object;
  return [
    ...nameErrors(resource, metadata),
    ...labelErrors(metadata.labels ?? {}),
    ...annotationErrors(metadata.annotations ?? {}),
    ...ownerErrors(metadata.ownerReferences ?? []),
    ...finalizerErrors(resource, metadata.finalizers ?? []),
  ];
}

/** What may not change. */
export function metadataUpdateErrors(next: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const known = new Set(old.metadata.finalizers ?? []);
  const added = (next.metadata.finalizers ?? []).filter((name) => !known.has(name));
  if (old.metadata.deletionTimestamp !== undefined && added.length > 0) {
    const shown = JSON.stringify(added);
    errors.push(
      forbiddenField(
        'metadata.finalizers',
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown.slice(1, -1)}}`,
      ),
    );
  }
  return errors;
}

function nameErrors(resource: Resource, { name = '' }: ObjectMeta): FieldError[] {
  if (name === '') return [required('metadata.name', 'name or generateName is required')];
  return nameChecks[resource.strategy.nameRule](name).map((detail) => invalid('metadata.name', name, detail));
}

function labelErrors(labels: Readonly<Record<string, string>>): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in labels) {
    const value = labels[key] ?? '';
    for (const detail of qualifiedNameErrors(key)) errors.push(invalid('metadata.labels', key, detail));
    for (const detail of labelValueErrors(value)) errors.push(invalid('metadata.labels', value, detail));
  }
  return errors;
}

function annotationErrors(annotations: Readonly<Record<string, string>>): FieldError[] {
  const errors: FieldError[] = [];
  let total = 0;
  for (const key in annotations) {
    for (const detail of qualifiedNameErrors(key.toLowerCase()))
      errors.push(invalid('metadata.annotations', key, detail));
    total += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '');
  }
  if (total > annotationBytesLimit) errors.push(tooLong('metadata.annotations', annotationBytesLimit));
  return errors;
}

function missingOwnerFields(owner: OwnerReference, path: string): FieldError[] {
  const empty = (['kind', 'name', 'uid'] as const).filter((field) => !owner[field]);
  const errors = empty.map((field) => invalid(`${path}.${field}`, '', 'must not be empty'));
  if (isApiVersion(owner.apiVersion)) return errors;
  return [invalid(`${path}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty'), ...errors];
}

function ownerErrors(owners: readonly OwnerReference[]): FieldError[] {
  const errors: FieldError[] = [];
  const controllers: string[] = [];
  const path = 'metadata.ownerReferences';
  for (const owner of owners) {
    errors.push(...missingOwnerFields(owner, path));
    if (isEvent(owner))
      errors.push(invalid(path, owner, `${gvkText(owner)} is disallowed from being an owner`));
    if (owner.controller === true) controllers.push(`${owner.kind}/${owner.name}`);
  }
  if (controllers.length > 1) {
    errors.push(
      invalid(
        'metadata.ownerReferences',
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${controllers.join(' and ')}`,
      ),
    );
  }
  return errors;
}

const eventVersions = new Set(['v1', 'events.k8s.io/v1', 'events.k8s.io/v1beta1']);

function isEvent({ apiVersion, kind }: OwnerReference): boolean {
  return kind === 'Event' && eventVersions.has(apiVersion);
}

function gvkText({ apiVersion, kind }: OwnerReference): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function isApiVersion(text: string | undefined): boolean {
  return text !== undefined && /^([^/]+\/)?[^/]+$/.test(text);
}

/** Groups whose finalizers need no domain; those of custom resources do not either. */
const plainFinalizerGroups = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
]);

function finalizerErrors(resource: Resource, finalizers: readonly string[]): FieldError[] {
  const needsDomain = resource.isBuiltin && !plainFinalizerGroups.has(resource.group);
  const path = 'metadata.finalizers';
  const errors: FieldError[] = [];
  for (const name of finalizers)
    for (const detail of qualifiedNameErrors(name)) errors.push(invalid(path, name, detail));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  for (const [index, name] of finalizers.entries()) {
    if (needsDomain && !name.includes('/') && !standardFinalizers.has(name))
      errors.push(
        invalid(
          `${path}[${index}]`,
          name,
          'name is neither a standard finalizer name nor is it fully qualified',
        ),
      );
  }
  return errors;
}
