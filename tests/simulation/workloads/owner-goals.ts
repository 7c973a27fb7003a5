import type { NodeObject } from '@sheaf/api/node/index';
import type { DaemonSet, Deployment, Pod, ReplicaSet, StatefulSet } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { isDeleting, nameOf } from '../objects.ts';
import type { GoalFacts } from './goals.ts';
import { isActive, isOwnedBy, isReady, nodeOf, ordinalOf } from './pod-facts.ts';
import { missingImage } from './workload-objects.ts';

type Owner = Deployment | ReplicaSet | StatefulSet | DaemonSet;

/** Each owner of pods has those that it wants, and tells of them as they are. */
export function ownerComplaints(facts: GoalFacts): readonly string[] {
  const { objects } = facts;
  const pods = objects.all(resources.pods);
  return [
    ...objects
      .all(resources.deployments)
      .flatMap((each) => of(resources.deployments, each, deploymentComplaint(each, facts))),
    ...objects
      .all(resources.replicaSets)
      .flatMap((each) => of(resources.replicaSets, each, replicaSetComplaint(each, pods))),
    ...objects
      .all(resources.statefulSets)
      .flatMap((each) => of(resources.statefulSets, each, statefulSetComplaint(each, facts))),
    ...objects
      .all(resources.daemonSets)
      .flatMap((each) => of(resources.daemonSets, each, daemonSetComplaint(each, facts))),
  ];
}

function of(
  resource: Parameters<typeof nameOf>[0],
  owner: Owner,
  complaint: string | undefined,
): readonly string[] {
  if (isDeleting(owner)) return [];
  if ((owner.status?.observedGeneration ?? 0) !== owner.metadata.generation)
    return [`${nameOf(resource, owner)} has not been looked at`];
  return complaint === undefined ? [] : [`${nameOf(resource, owner)} ${complaint}`];
}

/** It cannot run at all. */
function isBroken({ spec }: Owner): boolean {
  return spec.template.spec.containers.some(({ image }) => image === missingImage);
}

function deploymentComplaint(deployment: Deployment, { objects }: GoalFacts): string | undefined {
  const sets = objects.all(resources.replicaSets).filter((set) => isOwnedBy(set, deployment));
  const problem = told(
    deployment.status?.replicas,
    sum(sets, ({ status }) => status?.replicas),
  );
  // One that is paused, or does not get on, stands between what was and what is to be.
  if (problem !== undefined || deployment.spec.paused || isBroken(deployment)) return problem;
  const asked = sum(sets, ({ spec }) => spec.replicas);
  const { replicas: wanted = 1 } = deployment.spec;
  return asked === wanted
    ? rolloutComplaint(deployment, wanted)
    : `wants ${wanted} pods and asks for ${asked}`;
}

function sum(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((all, set) => all + (count(set) ?? 0), 0);
}

function rolloutComplaint({ status }: Deployment, wanted: number): string | undefined {
  const { updatedReplicas = 0, availableReplicas = 0, conditions = [] } = status ?? {};
  if (updatedReplicas !== wanted || availableReplicas !== wanted)
    return `wants ${wanted} pods, ${updatedReplicas} are of its template, and ${availableReplicas} are available`;
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  return progressing?.reason === 'NewReplicaSetAvailable' ? undefined : `says ${progressing?.reason}`;
}

function replicaSetComplaint(set: ReplicaSet, all: readonly Pod[]): string | undefined {
  const pods = all.filter((pod) => isOwnedBy(pod, set) && isActive(pod));
  const { replicas: wanted = 1 } = set.spec;
  if (pods.length !== wanted) return `wants ${wanted} pods and has ${pods.length}`;
  return told(set.status?.replicas, wanted) ?? ready(set, pods);
}

function told(said: number | undefined, is: number): string | undefined {
  return (said ?? 0) === is ? undefined : `says ${said ?? 0} pods and has ${is}`;
}

/** What it says to be ready is, and all are unless they cannot. */
function ready(owner: ReplicaSet | StatefulSet, pods: readonly Pod[]): string | undefined {
  const count = pods.filter(isReady).length;
  const { readyReplicas = 0, availableReplicas = 0 } = owner.status ?? {};
  if (readyReplicas !== count) return `says ${readyReplicas} pods to be ready, and ${count} are`;
  if (count < pods.length && !isBroken(owner)) return `has ${pods.length - count} pods that are not ready`;
  return availableReplicas === count ? undefined : `says ${availableReplicas} pods to be available`;
}

function statefulSetComplaint(set: StatefulSet, facts: GoalFacts): string | undefined {
  const pods = facts.objects.all(resources.pods).filter((pod) => isOwnedBy(pod, set));
  const problem = told(set.status?.replicas, pods.length);
  if (problem !== undefined || isHeld(set, pods) || isBlocked(set, facts)) return problem;
  const places = pods.map(ordinalOf).toSorted((a, b) => a - b);
  const expected = placesOf(set);
  if (places.join() !== expected.join()) return `wants pods ${expected.join()} and has ${places.join()}`;
  return ready(set, pods) ?? revisionComplaint(set, pods);
}

/** A pod that cannot become ready holds up the rest; one of an old template is kept where somebody has asked for that. */
function isHeld(set: StatefulSet, pods: readonly Pod[]): boolean {
  return (
    isBroken(set) || pods.some(({ spec }) => spec.containers.some(({ image }) => image === missingImage))
  );
}

/** The ordinals that a set wants pods of. */
export function placesOf({ spec }: StatefulSet): readonly number[] {
  const first = spec.ordinals?.start ?? 0;
  return Array.from({ length: spec.replicas ?? 1 }, (_, index) => first + index);
}

/** A pod that is not its own has the name of one that it wants: an event says so. */
function isBlocked(set: StatefulSet, { objects }: GoalFacts): boolean {
  const names = new Set(placesOf(set).map((place) => `${set.metadata.name}-${place}`));
  return objects
    .all(resources.pods)
    .some(
      (pod) =>
        pod.metadata.namespace === set.metadata.namespace &&
        names.has(pod.metadata.name ?? '') &&
        !isOwnedBy(pod, set),
    );
}

function isOfOldTemplate({ metadata }: Pod, { status }: StatefulSet): boolean {
  return metadata.labels?.['controller-revision-hash'] !== status?.updateRevision;
}

function revisionComplaint(set: StatefulSet, pods: readonly Pod[]): string | undefined {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return undefined;
  const updated = placesOf(set).slice(rollingUpdate?.partition ?? 0);
  const old = pods.find((pod) => updated.includes(ordinalOf(pod)) && isOfOldTemplate(pod, set));
  if (old) return `has ${old.metadata.name} of an old template`;
  const { currentRevision, updateRevision } = set.status ?? {};
  const isWhole = pods.every((pod) => !isOfOldTemplate(pod, set));
  return isWhole && pods.length > 0 && currentRevision !== updateRevision
    ? `has all pods of ${updateRevision} and says ${currentRevision}`
    : undefined;
}

function daemonSetComplaint(set: DaemonSet, { objects }: GoalFacts): string | undefined {
  const nodes: readonly NodeObject[] = objects.all(resources.nodes);
  const pods = objects.all(resources.pods).filter((pod) => isOwnedBy(pod, set) && isActive(pod));
  const counts = nodes.map(({ metadata }) => pods.filter((pod) => nodeOf(pod) === metadata.name).length);
  // A new pod that cannot run stands beside the old one.
  const most = isBroken(set) ? 2 : 1;
  if (counts.some((count) => count < 1 || count > most))
    return `has ${counts.join(' and ')} pods on its nodes`;
  return isBroken(set) ? undefined : daemonStatusComplaint(set, pods, nodes.length);
}

function daemonStatusComplaint(
  { spec, status }: DaemonSet,
  pods: readonly Pod[],
  nodes: number,
): string | undefined {
  const { numberReady, updatedNumberScheduled = 0, desiredNumberScheduled } = status ?? {};
  if (numberReady !== pods.filter(isReady).length) return `says ${numberReady} pods to be ready`;
  if (desiredNumberScheduled !== nodes) return `says it wants ${desiredNumberScheduled} pods`;
  if (spec.updateStrategy?.type === 'OnDelete') return undefined;
  if (numberReady < nodes) return 'has a pod that is not ready';
  return updatedNumberScheduled === nodes ? undefined : `has ${updatedNumberScheduled} pods of its template`;
}
