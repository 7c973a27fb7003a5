import type { KubeObject } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { type ResourceRef, resources } from '@sheaf/client';
import { isDeleting, nameOf, type Objects } from '../objects.ts';
import { podUidOf } from './events.ts';
import { jobComplaints } from './job-goals.ts';
import { belongings, names } from './kinds.ts';
import { ownerComplaints, placesOf } from './owner-goals.ts';
import { hasEnded, isOwnedBy, isReady } from './pod-facts.ts';
import type { Safety } from './safety.ts';
import type { Users } from './users.ts';
import type { World } from './world.ts';

export interface GoalFacts {
  readonly objects: Objects;
  readonly world: World;
  readonly safety: Safety;
  readonly users: Users;
  readonly nowMs: number;
}

/** What must come once faults stop: every state that is not the goal is named here. */
export function findComplaints(facts: GoalFacts): readonly string[] {
  return [
    ...ownerComplaints(facts),
    ...jobComplaints(facts),
    ...podComplaints(facts),
    ...ownershipComplaints(facts),
    ...claimComplaints(facts),
    ...hostComplaints(facts),
  ];
}

/** What is still there after everything has been deleted. */
export function findRemains({ objects, world }: GoalFacts): readonly string[] {
  const left = belongings.flatMap((resource) =>
    objects.all(resource).map((object) => `${nameOf(resource, object)} is left`),
  );
  return [...left, ...tracesOf(world).map(([what]) => `${what} is left`)];
}

/** What is deleted goes; what is to run does, or says why not. */
function podComplaints({ objects, world }: GoalFacts): readonly string[] {
  const going = belongings.flatMap((resource) =>
    objects
      .all(resource)
      .filter((object) => isDeleting(object) && !isUsed(object, objects))
      .map((object) => `${nameOf(resource, object)} is being deleted and does not go`),
  );
  const running = new Set(world.running().map(({ container }) => podUidOf(container.spec.id)));
  const stuck = objects
    .all(resources.pods)
    .filter((pod) => !isDeleting(pod) && !hasEnded(pod))
    .flatMap((pod) => podComplaint(pod, running.has(pod.metadata.uid ?? '')));
  return [...going, ...stuck];
}

/** A claim that a pod uses stays with it, and with it a set that waits for it. */
function isUsed(object: KubeObject, objects: Objects): boolean {
  const pods = objects.all(resources.pods).filter((pod) => !isDeleting(pod));
  const claims = new Set(
    pods.flatMap(({ metadata, spec }) =>
      (spec.volumes ?? []).map(
        ({ persistentVolumeClaim: claim }) => `${metadata.namespace}/${claim?.claimName}`,
      ),
    ),
  );
  return objects
    .all(resources.persistentVolumeClaims)
    .filter(({ metadata }) => claims.has(`${metadata.namespace}/${metadata.name}`))
    .some((claim) => claim === object || isOwnedBy(claim, object));
}

function podComplaint(pod: Pod, isRunning: boolean): readonly string[] {
  const name = nameOf(resources.pods, pod);
  if (isReady(pod)) return isRunning ? [] : [`${name} is ready and does not run`];
  return isNamed(pod) ? [] : [`${name} is not ready and does not say why`];
}

/** Why it does not run: it has no node, or a container waits for something. */
export function isNamed({ status }: Pod): boolean {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') return (scheduled.message ?? '') !== '';
  return status?.containerStatuses?.some(({ state }) => (state?.waiting?.message ?? '') !== '') === true;
}

/** Nothing has an owner that is gone, and no controller keeps hold of what is not its own any more. */
function ownershipComplaints({ objects }: GoalFacts): readonly string[] {
  const uids = new Set(
    belongings.flatMap((resource) => objects.all(resource).map(({ metadata }) => metadata.uid)),
  );
  const all: readonly (readonly [ResourceRef, KubeObject])[] = belongings.flatMap((resource) =>
    objects.all(resource).map((object) => [resource, object] as const),
  );
  return all.flatMap(([resource, object]) => {
    const { ownerReferences = [] } = object.metadata;
    const lost = ownerReferences.find(({ uid }) => !uids.has(uid));
    // One that is in use goes when its user does.
    const isGoing = isDeleting(object) && isUsed(object, objects);
    return lost && !isGoing
      ? [`${nameOf(resource, object)} has an owner that is gone: ${lost.kind} ${lost.name}`]
      : [];
  });
}

/** Claims go with their set, and with pods that are too many, where that was asked for. */
function claimComplaints({ objects }: GoalFacts): readonly string[] {
  const [, leaving] = names.statefulSets;
  const sets = objects.all(resources.statefulSets).filter(({ metadata }) => metadata.name === leaving);
  return objects
    .all(resources.persistentVolumeClaims)
    .filter(({ metadata }) => metadata.name?.startsWith(`data-${leaving}-`))
    .filter(({ metadata }) => metadata.ownerReferences !== undefined)
    .filter((claim) => {
      const place = Number(claim.metadata.name?.slice(`data-${leaving}-`.length));
      const set = sets.find(({ metadata }) => metadata.namespace === claim.metadata.namespace);
      const pod = objects
        .all(resources.pods)
        .find((each) => isOfPlace(each, claim.metadata.namespace, `${leaving}-${place}`));
      // Pods that were let go keep their claims, and so do those that are too many while their set is held up.
      const isKept = pod !== undefined;
      // One that never had a pod waits for the end of its set.
      return !isKept && !(set && (placesOf(set).includes(place) || isOwnedBy(claim, set)));
    })
    .map((claim) => `${nameOf(resources.persistentVolumeClaims, claim)} is left, and was to go`);
}

function isOfPlace({ metadata }: Pod, namespace: string | undefined, name: string): boolean {
  return metadata.namespace === namespace && metadata.name === name;
}

/** Nothing on the hosts is without its pod. */
function hostComplaints({ objects, world }: GoalFacts): readonly string[] {
  return tracesOf(world)
    .filter(([, uid]) => objects.get(resources.pods, uid) === undefined)
    .map(([what]) => `${what} belongs to nobody`);
}

/** Everything that there is on the hosts, and whose it is. */
function tracesOf({ hosts }: World): readonly (readonly [what: string, podUid: string])[] {
  return hosts.flatMap(({ containers, volumes }) => [
    ...[...containers.sandboxes.keys()].map((id) => [`sandbox ${id}`, podUidOf(id)] as const),
    ...[...containers.containers.keys()].map((id) => [`container ${id}`, podUidOf(id)] as const),
    ...[...containers.logs.keys()].map((id) => [`log ${id}`, podUidOf(id)] as const),
    ...[...volumes.pods.keys()].map((uid) => [`volumes of pod ${uid}`, uid] as const),
  ]);
}
