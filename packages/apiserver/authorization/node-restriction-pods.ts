import { asJson, type KubeObject, type OwnerReference } from '@sheaf/api';
import { jsonEqual, StatusError } from '@sheaf/base';
import type { NodeWrite } from './node-restriction.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import { findApiReference, mirrorPodAnnotation } from './pod-references.ts';

/** A node makes and removes mirror pods of what it runs, and removes pods bound to it. */
export function checkPodWrite(write: NodeWrite): void {
  const { request, node, refuse } = write;
  if (request.operation === 'CREATE') return checkMirrorPod(write);
  if (request.operation !== 'DELETE') {
    throw refuse(
      `unexpected operation ${JSON.stringify(request.operation)}, node ${JSON.stringify(node)} can only create and delete mirror pods`,
    );
  }
  const pod = request.oldObject ?? getPod(write, request.name);
  if (nodeOf(pod) === node) return;
  throw refuse(`node ${JSON.stringify(node)} can only delete pods with spec.nodeName set to itself`);
}

function checkMirrorPod(write: NodeWrite): void {
  const { request, node, refuse } = write;
  const pod = request.object;
  if (!pod) throw refuse('the request has no pod');
  const name = JSON.stringify(node);
  if (pod.metadata.annotations?.[mirrorPodAnnotation] === undefined) {
    throw refuse(
      `pod does not have ${JSON.stringify(mirrorPodAnnotation)} annotation, node ${name} can only create mirror pods`,
    );
  }
  if (nodeOf(pod) !== node)
    throw refuse(`node ${name} can only create pods with spec.nodeName set to itself`);
  checkOwners(write, pod.metadata.ownerReferences ?? []);
  const reference = findApiReference(pod);
  if (reference !== undefined) throw refuse(`node ${name} can not create pods that reference ${reference}`);
}

/** A mirror pod has one owner: the node, as controller, without blocking its deletion. */
function checkOwners(write: NodeWrite, owners: readonly OwnerReference[]): void {
  const { node, refuse } = write;
  const name = JSON.stringify(node);
  const [owner, ...more] = owners;
  if (more.length > 0)
    throw refuse(`node ${name} can only create pods with a single owner reference set to itself`);
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refuse(`node ${name} can only create pods with an owner reference set to itself`);
  }
  if (owner.controller !== true) {
    throw refuse(`node ${name} can only create pods with a controller owner reference set to itself`);
  }
  if (owner.blockOwnerDeletion === true) {
    throw refuse(`node ${name} must not set blockOwnerDeletion on an owner reference`);
  }
  checkNodeUid(write, owner.uid);
}

function checkNodeUid({ node, views, refuse }: NodeWrite, given: string): void {
  const uid = views.of('', 'nodes').get('', node)?.metadata.uid;
  if (uid === undefined) throw notFound('nodes', node);
  if (given !== uid) throw refuse(`node ${node} UID mismatch: expected ${given} got ${uid}`);
}

export function checkPodStatus({ request, node, refuse }: NodeWrite): void {
  const { operation, object, oldObject } = request;
  if (operation !== 'UPDATE' || !object || !oldObject)
    throw refuse(`unexpected operation ${JSON.stringify(operation)}`);
  const name = JSON.stringify(node);
  if (nodeOf(oldObject) !== node) {
    throw refuse(`node ${name} can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!jsonEqual(object.metadata.labels ?? {}, oldObject.metadata.labels ?? {})) {
    throw refuse(`node ${name} cannot update labels through pod status`);
  }
  const [status, oldStatus] = [objectAt(object, 'status'), objectAt(oldObject, 'status')];
  if (
    !jsonEqual(
      [...objectsAt(status, 'resourceClaimStatuses')],
      [...objectsAt(oldStatus, 'resourceClaimStatuses')],
    )
  ) {
    throw refuse(`node ${name} cannot update resource claim statues`);
  }
  if (!jsonEqual(status['extendedResourceClaimStatus'], oldStatus['extendedResourceClaimStatus'])) {
    throw refuse(`node ${name} cannot update extended resource claim status`);
  }
}

export function checkPodEviction(write: NodeWrite): void {
  const { request, node, refuse } = write;
  if (request.operation !== 'CREATE') throw refuse(`unexpected operation ${request.operation}`);
  const name = request.name || (request.object?.metadata.name ?? '');
  if (name === '') throw refuse('could not determine pod from request data');
  if (nodeOf(getPod(write, name)) === node) return;
  throw refuse(`node ${node} can only evict pods with spec.nodeName set to itself`);
}

export function getPod({ request, views }: NodeWrite, name: string): KubeObject {
  const pod = views.of('', 'pods').get(request.namespace, name);
  if (!pod) throw notFound('pods', name);
  return pod;
}

export function nodeOf(pod: KubeObject): string {
  return textAt(asJson(pod)['spec'], 'nodeName');
}

export function notFound(resource: string, name: string): StatusError {
  return new StatusError({
    reason: 'NotFound',
    message: `${resource} ${JSON.stringify(name)} not found`,
    details: { name, kind: resource },
  });
}
