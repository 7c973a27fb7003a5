import { type Condition, findCondition, type KubeObject, type OwnerReference } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { customKinds } from './kinds.ts';
import { isForeground, type Kept, nameOf, type Picture } from './picture.ts';

/** What must come once faults stop: every state that is not the goal is named here. */
export function findComplaints(picture: Picture): readonly string[] {
  return [
    ...picture.all.flatMap((kept) => objectComplaints(picture, kept)),
    ...picture.of(resources.namespaces).flatMap((namespace) => namespaceComplaints(picture, namespace)),
    ...picture.of(resources.customResourceDefinitions).flatMap((crd) => definitionComplaints(picture, crd)),
  ];
}

function objectComplaints(picture: Picture, kept: Kept): readonly string[] {
  const { namespace } = kept.object.metadata;
  if (
    namespace !== undefined &&
    !picture.of(resources.namespaces).some((item) => item.metadata.name === namespace)
  )
    return [`${nameOf(kept)} is in a namespace that is gone`];
  if (kept.object.metadata.deletionTimestamp !== undefined) return deletionComplaints(picture, kept);
  return ownerComplaints(picture, kept);
}

type OwnerState = 'live' | 'absent' | 'waiting' | 'unknown';

function ownerComplaints(picture: Picture, kept: Kept): readonly string[] {
  const states = stateOfOwners(picture, kept);
  if (states.length === 0) return [];
  if (states.includes('live'))
    return states.includes('absent') || states.includes('waiting')
      ? [`${nameOf(kept)} has a live owner and refers to one that is gone or goes`]
      : [];
  return states.includes('unknown') ? [] : [`${nameOf(kept)} is an orphan`];
}

function stateOfOwners(picture: Picture, kept: Kept): readonly OwnerState[] {
  const { ownerReferences = [] } = kept.object.metadata;
  return ownerReferences.map((reference) => stateOf(picture, kept, reference));
}

function stateOf(picture: Picture, kept: Kept, reference: OwnerReference): OwnerState {
  // A reference that can lead nowhere is a mistake that deletes nothing.
  if (!kept.resource.namespaced && isNamespacedKind(reference.kind) && isServed(picture, reference.kind))
    return 'live';
  const owner = picture.ownerOf(kept, reference);
  if (owner) return isForeground(owner.object) && reference.blockOwnerDeletion ? 'waiting' : 'live';
  return isServed(picture, reference.kind) ? 'absent' : 'unknown';
}

function isNamespacedKind(kind: string): boolean {
  return kind === 'ConfigMap' || kind === 'Secret' || kind === 'Widget';
}

/** Nobody can tell whether an owner lives whose kind is not served. */
function isServed(picture: Picture, kind: string): boolean {
  const custom = customKinds.find((item) => item.kind === kind);
  if (!custom) return true;
  return picture
    .of(resources.customResourceDefinitions)
    .some((crd) => crd.metadata.name === `${custom.plural}.${custom.group}`);
}

/** What is being deleted is held by someone who has a name. */
function deletionComplaints(picture: Picture, kept: Kept): readonly string[] {
  const { finalizers = [], uid = '' } = kept.object.metadata;
  const { kind } = kept.resource;
  if (kind === 'Namespace' || kind === 'CustomResourceDefinition') return [];
  if (finalizers.includes('orphan')) return [`${nameOf(kept)} has not orphaned its dependents`];
  if (finalizers.includes('foregroundDeletion') && !picture.all.some((other) => blocks(picture, other, uid)))
    return [`${nameOf(kept)} waits for dependents that are not there`];
  return finalizers.length === 0 ? [`${nameOf(kept)} is being deleted and is not held`] : [];
}

function blocks(picture: Picture, dependent: Kept, owner: string): boolean {
  return (
    dependent.object.metadata.ownerReferences?.some(
      (reference) =>
        reference.uid === owner &&
        reference.blockOwnerDeletion === true &&
        picture.ownerOf(dependent, reference) !== undefined,
    ) ?? false
  );
}

function namespaceComplaints(picture: Picture, namespace: KubeObject): readonly string[] {
  const { name = '', deletionTimestamp } = namespace.metadata;
  const inside = picture.all.filter(({ object }) => object.metadata.namespace === name);
  if (deletionTimestamp === undefined) {
    const has = (kind: string, wanted: string): boolean =>
      inside.some(({ resource, object }) => resource.kind === kind && object.metadata.name === wanted);
    if (has('ServiceAccount', 'default') && has('ConfigMap', 'kube-root-ca.crt')) return [];
    return [`Namespace ${name} lacks its account or its authority`];
  }
  const held = inside.filter(({ object }) => (object.metadata.finalizers ?? []).length > 0);
  if (held.length === 0) return [`Namespace ${name} is being deleted and has nothing that holds it`];
  const condition = conditionOf(namespace, 'NamespaceFinalizersRemaining');
  return condition?.status === 'True' ? [] : [`Namespace ${name} does not say who holds it`];
}

function definitionComplaints(picture: Picture, crd: KubeObject): readonly string[] {
  const { name = '', deletionTimestamp } = crd.metadata;
  const established = conditionOf(crd, 'Established')?.status === 'True';
  if (deletionTimestamp === undefined) return established ? [] : [`${name} is not established`];
  const instances = picture.all.filter(({ resource }) => `${resource.plural}.${resource.group}` === name);
  if (instances.length === 0) return [`${name} is being deleted and has nothing that holds it`];
  const message = conditionOf(crd, 'Terminating')?.message ?? '';
  return message.includes('finalizers:') ? [] : [`${name} does not say who holds it`];
}

function conditionOf(object: KubeObject, type: string): Condition | undefined {
  const status = object['status'] as { conditions?: Condition[] } | undefined;
  return findCondition(status?.conditions, type);
}
