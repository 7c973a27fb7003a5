import {
  type KubeObject,
  type LabelSelector,
  labelMatcherOf,
  matchesLabels,
  type OwnerReference,
} from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';

/** Which object controls another one. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

/** As the one controller of what it makes; deleting it in the foreground waits for them. */
export function controllerReference(
  owner: KubeObject,
  type: { readonly apiVersion: string; readonly kind: string },
): OwnerReference {
  const { name = '', uid = '' } = owner.metadata;
  return { ...type, name, uid, controller: true, blockOwnerDeletion: true };
}

export interface Claims<T> {
  /** Its own, with a label that its selector matches. */
  readonly owned: readonly T[];
  /** Match its selector and have no controller. */
  readonly orphans: readonly T[];
  /** Its own once, but their labels do not match any more. */
  readonly strays: readonly T[];
}

/** Who among `objects`, all of one namespace, belongs to an owner with a selector. */
export function claimsOf<T extends KubeObject>(
  owner: KubeObject & { readonly spec: { readonly selector?: LabelSelector | undefined } },
  objects: readonly T[],
): Claims<T> {
  const matcher = labelMatcherOf(owner.spec.selector);
  const isMatched = ({ metadata }: T): boolean => matchesLabels(matcher, metadata.labels ?? {});
  const own = objects.filter((object) => isControlledBy(object, owner));
  const isDeleted = owner.metadata.deletionTimestamp !== undefined;
  return {
    owned: own.filter(isMatched),
    strays: isDeleted ? [] : own.filter((object) => !isMatched(object)),
    orphans: isDeleted ? [] : objects.filter((object) => isOrphan(object) && isMatched(object)),
  };
}

function isOrphan(object: KubeObject): boolean {
  return controllerOf(object) === undefined && object.metadata.deletionTimestamp === undefined;
}

/** A strategic merge patch that makes the object an owner's own; refused if it is another object than `uid` by now. */
export function adoptionPatch(uid: string, reference: OwnerReference, finalizer?: string): JsonObject {
  const finalizers = finalizer === undefined ? {} : { finalizers: [finalizer] };
  return { metadata: { uid, ownerReferences: [{ ...reference }], ...finalizers } };
}

/** A strategic merge patch that lets the object go. */
export function releasePatch(uid: string, ownerUid: string, finalizer?: string): JsonObject {
  const finalizers = finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] };
  return { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: ownerUid }], ...finalizers } };
}
