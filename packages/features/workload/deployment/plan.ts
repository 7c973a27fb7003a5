import type { Deployment, Pod, ReplicaSet } from '@sheaf/api/workload/index';
import { claimsOf, isControlledBy } from '../pods/ownership.ts';
import { hasEnded } from '../pods/pod-state.ts';
import {
  currentSet,
  desiredAtLastScale,
  newestRevision,
  newSetOf,
  type Revisions,
  revisionAnnotation,
  revisionOf,
  revisionsOf,
  scaledSet,
} from './revisions.ts';
import {
  availableOf,
  fenceOf,
  isRolling,
  maxReplicasOf,
  newSetReplicas,
  proportionalScales,
  replicasOf,
  type SetScale,
  shrunkSets,
} from './scaling.ts';
import { countsOf, isComplete } from './status.ts';

export interface DeploymentFacts {
  readonly deployment: Deployment;
  /** All of its namespace. */
  readonly sets: readonly ReplicaSet[];
  /** All of its namespace; they matter only to a deployment that is recreated. */
  readonly pods: readonly Pod[];
}

export type DeploymentStep =
  | { readonly action: 'none' }
  | { readonly action: 'adopt' | 'release' | 'delete'; readonly sets: readonly ReplicaSet[] }
  | { readonly action: 'create'; readonly set: ReplicaSet }
  /** Another number of pods, or none of it: then the annotations. */
  | { readonly action: 'update'; readonly sets: readonly ReplicaSet[] }
  /** Which revision the deployment shows. */
  | { readonly action: 'renumber'; readonly deployment: Deployment };

const none: DeploymentStep = { action: 'none' };

/** The next step of a deployment towards its template and its number of pods. */
export function planDeployment(facts: DeploymentFacts): DeploymentStep {
  const { deployment, sets } = facts;
  const { owned, orphans, strays } = claimsOf(deployment, sets);
  if (strays.length > 0) return { action: 'release', sets: strays };
  if (orphans.length > 0) return { action: 'adopt', sets: orphans };
  if (deployment.metadata.deletionTimestamp !== undefined) return none;
  const revisions = revisionsOf(deployment, owned);
  return (
    planAnnotations(deployment, revisions) ??
    planReplicas(facts, revisions) ??
    planHistory(deployment, revisions)
  );
}

/** What the set of the template, and the deployment, say about themselves. */
function planAnnotations(deployment: Deployment, revisions: Revisions): DeploymentStep | undefined {
  const { newSet } = revisions;
  if (!newSet) return undefined;
  const revision = newestRevision(revisions);
  const current = currentSet(newSet, deployment, revision);
  if (current !== newSet) return { action: 'update', sets: [current] };
  if (revisionOf(deployment) === revision) return undefined;
  const { metadata } = deployment;
  const annotations = { ...metadata.annotations, [revisionAnnotation]: String(revision) };
  return { action: 'renumber', deployment: { ...deployment, metadata: { ...metadata, annotations } } };
}

function planReplicas(facts: DeploymentFacts, revisions: Revisions): DeploymentStep | undefined {
  const { deployment } = facts;
  const { paused = false } = deployment.spec;
  // Recreation knows how many pods each set is to have, also where two have some because it was rolling before.
  if (!paused && !isRolling(deployment)) return planRecreation(facts, revisions);
  return paused || isScaled(deployment, revisions)
    ? planScale(deployment, revisions)
    : planRolling(deployment, revisions);
}

/** Its number of pods was changed since its sets were scaled last. */
function isScaled({ spec }: Deployment, { newSet, oldSets }: Revisions): boolean {
  return activeOf([...oldSets, ...(newSet ? [newSet] : [])]).some((set) => {
    const desired = desiredAtLastScale(set);
    return desired !== undefined && desired !== (spec.replicas ?? 1);
  });
}

function planScale(deployment: Deployment, { newSet, oldSets }: Revisions): DeploymentStep | undefined {
  const active = activeOf(newSet ? [...oldSets, newSet] : oldSets);
  const wanted = deployment.spec.replicas ?? 1;
  if (active.length <= 1) {
    const only = active[0] ?? newSet ?? oldSets.at(-1);
    return only && scale(deployment, [{ set: only, replicas: wanted }]);
  }
  if (newSet && isSaturated(newSet, wanted))
    return scale(
      deployment,
      activeOf(oldSets).map((set) => ({ set, replicas: 0 })),
    );
  return scale(deployment, proportionalScales(deployment, active));
}

function isSaturated(set: ReplicaSet, wanted: number): boolean {
  return [replicasOf(set), desiredAtLastScale(set), availableOf(set)].every((count) => count === wanted);
}

function planRolling(deployment: Deployment, revisions: Revisions): DeploymentStep | undefined {
  const replicas = newSetReplicas(deployment, revisions);
  const { newSet } = revisions;
  if (!newSet) return create(deployment, revisions, replicas);
  return (
    scale(deployment, [{ set: newSet, replicas }]) ?? scale(deployment, shrunkSets(deployment, revisions))
  );
}

function planRecreation(
  { deployment, pods }: DeploymentFacts,
  revisions: Revisions,
): DeploymentStep | undefined {
  const { newSet, oldSets } = revisions;
  const stopped = scale(
    deployment,
    activeOf(oldSets).map((set) => ({ set, replicas: 0 })),
  );
  if (stopped) return stopped;
  const isOldRunning = pods.some((pod) => !hasEnded(pod) && oldSets.some((set) => isControlledBy(pod, set)));
  // A set that has not seen yet that it is to have none may be making one.
  if (isOldRunning || !oldSets.every(isIdle)) return undefined;
  const { wanted } = fenceOf(deployment);
  return newSet
    ? scale(deployment, [{ set: newSet, replicas: wanted }])
    : create(deployment, revisions, wanted);
}

function create(deployment: Deployment, revisions: Revisions, replicas: number): DeploymentStep {
  const order = { revision: newestRevision(revisions), replicas, maxReplicas: maxReplicasOf(deployment) };
  return { action: 'create', set: newSetOf(deployment, order) };
}

function scale(deployment: Deployment, scales: readonly SetScale[]): DeploymentStep | undefined {
  const maxReplicas = maxReplicasOf(deployment);
  const changed = scales
    .map(({ set, replicas }) => ({ set, next: scaledSet(set, deployment, { replicas, maxReplicas }) }))
    .filter(({ set, next }) => set !== next);
  return changed.length > 0 ? { action: 'update', sets: changed.map(({ next }) => next) } : undefined;
}

/** Sets of earlier templates beyond those that are kept for going back. */
function planHistory(deployment: Deployment, revisions: Revisions): DeploymentStep {
  const limit = deployment.spec.revisionHistoryLimit;
  if (limit === undefined || limit === 2 ** 31 - 1) return none;
  if (!deployment.spec.paused && !isComplete(deployment, countsOf({ revisions }))) return none;
  const kept = revisions.oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const byRevision = kept.toSorted((a, b) => revisionOf(a) - revisionOf(b));
  const surplus = byRevision.slice(0, Math.max(0, kept.length - limit)).filter(isIdle);
  return surplus.length > 0 ? { action: 'delete', sets: surplus } : none;
}

function isIdle({ metadata, spec, status }: ReplicaSet): boolean {
  const isObserved = (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
  return spec.replicas === 0 && (status?.replicas ?? 0) === 0 && isObserved;
}

function activeOf(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0);
}
