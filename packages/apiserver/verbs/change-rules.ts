import { type FieldError, invalid, invalidObject, type KubeObject } from '@sheaf/api';
import type { Resource } from '../registry/resource.ts';
import { conflict, modifiedDetail } from './errors.ts';
import { metadataErrors, metadataUpdateErrors } from './validate-metadata.ts';

/** True if nothing holds an object any more that is being deleted. */
export function isFinished(resource: Resource, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    (finalizers ?? []).length === 0 &&
    (deletionGracePeriodSeconds ?? 0) === 0 &&
    !resource.strategy.isHeld?.(object)
  );
}

/** @throws StatusError 422 for what a change may not do */
export function checkChange(
  resource: Resource,
  next: KubeObject,
  { old, subresource, frozen }: { old: KubeObject; subresource: string; frozen: readonly FieldError[] },
): void {
  const errors = [
    ...frozen,
    ...metadataErrors(resource, next),
    ...metadataUpdateErrors(next, old),
    ...resource.strategy.validateUpdate(next, old, subresource),
  ];
  if (errors.length === 0) return;
  throw invalidObject({ kind: resource.kind, group: resource.group, name: old.metadata.name ?? '' }, errors);
}

/** The client's resourceVersion and uid must be those of the object. */
export function checkPreconditions(
  resource: Resource,
  next: KubeObject,
  { old, isPatch }: { old: KubeObject; isPatch: boolean },
): void {
  const name = old.metadata.name ?? '';
  const { resourceVersion, uid } = next.metadata;
  if (!resourceVersion || resourceVersion === '0') {
    if (!resource.strategy.allowsUnconditionalUpdate) {
      const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
      throw invalidObject({ kind: resource.plural, group: resource.group, name }, [error]);
    }
  } else if (resourceVersion !== old.metadata.resourceVersion) {
    throw conflict(resource, name, modifiedDetail);
  }
  if (uid && uid !== old.metadata.uid) {
    if (isPatch)
      throw invalidObject({ kind: resource.kind, group: resource.group, name }, [
        invalid('metadata.uid', uid, 'field is immutable'),
      ]);
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
}

/** A client can neither begin a deletion by an update nor change its grace. */
export function deletionErrors(
  { metadata }: KubeObject,
  { metadata: kept }: KubeObject,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata;
  if (deletionTimestamp && !kept.deletionTimestamp)
    errors.push(invalid('metadata.deletionTimestamp', deletionTimestamp, 'field is immutable'));
  if (typeof grace === 'number' && grace !== kept.deletionGracePeriodSeconds)
    errors.push(invalid('metadata.deletionGracePeriodSeconds', grace, 'field is immutable'));
  return errors;
}

/** What no client can change. */
export function restoreSystemFields(next: KubeObject, old: KubeObject): void {
  const { metadata } = next;
  const kept = old.metadata;
  metadata.name = kept.name ?? '';
  metadata.resourceVersion = kept.resourceVersion ?? '';
  metadata.uid = kept.uid ?? '';
  metadata.creationTimestamp = kept.creationTimestamp ?? null;
  copyOrDrop(metadata, kept, 'deletionTimestamp');
  copyOrDrop(metadata, kept, 'deletionGracePeriodSeconds');
  copyOrDrop(metadata, kept, 'generation');
  delete metadata.selfLink;
}

function copyOrDrop<K extends 'deletionTimestamp' | 'deletionGracePeriodSeconds' | 'generation'>(
  to: KubeObject['metadata'],
  from: KubeObject['metadata'],
  field: K,
): void {
  if (from[field] === undefined) delete to[field];
  else to[field] = from[field];
}
