import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '@sheaf/api/workload/index';
import { withStatus } from '../pods/changed-status.ts';
import { some } from '../pods/counts.ts';
import type { Revisions } from './revisions.ts';
import { availableOf, fenceOf, replicasOf, sumOf } from './scaling.ts';

export interface StatusFacts {
  readonly deployment: Deployment;
  readonly revisions: Revisions;
  /** Why its new replica set could not be made. */
  readonly failure: string | undefined;
  /** The name of the replica set that was made a moment ago. */
  readonly createdSet: string | undefined;
  readonly collisionCount: number | undefined;
  readonly nowMs: number;
  readonly now: string;
}

/** The rollout of a template has ended well. */
const rolledOut = 'NewReplicaSetAvailable';

type Claim = Omit<DeploymentCondition, 'lastUpdateTime' | 'lastTransitionTime'>;

/** The deployment with a status that is right; `undefined` if it has one. */
export function planDeploymentStatus(facts: StatusFacts): Deployment | undefined {
  const { deployment, collisionCount } = facts;
  const counts = countsOf(facts);
  const conditions = planConditions(facts, counts);
  return withStatus(deployment, {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...counts,
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions.length > 0 && { conditions }),
  });
}

/** Every pod is of the newest template and available, and no other one is left. */
export function isComplete({ spec }: Deployment, counts: DeploymentStatus): boolean {
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = counts;
  return [updatedReplicas, replicas, availableReplicas].every((count) => count === (spec.replicas ?? 1));
}

/** When a rollout that does not get on is late, in milliseconds from now; `undefined` if it is not under way. */
export function deadlineInMs({ spec, status }: Deployment, nowMs: number): number | undefined {
  const progressing = findOne(status?.conditions, 'Progressing');
  const seconds = spec.progressDeadlineSeconds;
  if (seconds === undefined || seconds === 2 ** 31 - 1 || spec.paused || !progressing) return undefined;
  if (progressing.reason === rolledOut || progressing.status === 'False') return undefined;
  return Math.max(0, Date.parse(progressing.lastUpdateTime ?? '') + seconds * 1000 - nowMs);
}

export function countsOf({ revisions }: Pick<StatusFacts, 'revisions'>): DeploymentStatus {
  const { newSet, oldSets } = revisions;
  const all = newSet ? [newSet, ...oldSets] : oldSets;
  const available = sumOf(all, availableOf);
  const actual = (set: ReplicaSet): number => set.status?.replicas ?? 0;
  return {
    ...some('replicas', sumOf(all, actual)),
    ...some('updatedReplicas', newSet ? actual(newSet) : 0),
    ...some(
      'readyReplicas',
      sumOf(all, ({ status }) => status?.readyReplicas ?? 0),
    ),
    ...some('availableReplicas', available),
    ...some('unavailableReplicas', Math.max(0, sumOf(all, replicasOf) - available)),
    terminatingReplicas: sumOf(all, ({ status }) => status?.terminatingReplicas ?? 0),
  };
}

function planConditions(facts: StatusFacts, counts: DeploymentStatus): readonly DeploymentCondition[] {
  const { deployment, now } = facts;
  const claims = [availableClaim(deployment, counts), progressClaim(facts, counts), failureClaim(facts)];
  const others = (deployment.status?.conditions ?? []).filter(({ type }) => type !== 'ReplicaFailure');
  return claims.reduce<readonly DeploymentCondition[]>(
    (list, claim) => (claim ? withClaim(list, claim, now) : list),
    failureClaim(facts) ? (deployment.status?.conditions ?? []) : others,
  );
}

function availableClaim(deployment: Deployment, { availableReplicas = 0 }: DeploymentStatus): Claim {
  const { wanted, unavailable } = fenceOf(deployment);
  const isAvailable = availableReplicas >= wanted - unavailable;
  return {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
  };
}

function failureClaim({ failure, revisions }: StatusFacts): Claim | undefined {
  if (failure !== undefined)
    return { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: failure };
  const { newSet, oldSets } = revisions;
  const failing = [...(newSet ? [newSet] : []), ...oldSets]
    .map(({ status }) => status?.conditions?.find(({ type }) => type === 'ReplicaFailure'))
    .find((condition) => condition !== undefined);
  if (!failing) return undefined;
  const { status, reason = '', message = '' } = failing;
  return { type: 'ReplicaFailure', status, reason, message };
}

/** The claim about a rollout; `undefined` leaves what was said before. */
function progressClaim(facts: StatusFacts, counts: DeploymentStatus): Claim | undefined {
  const { deployment, failure, revisions } = facts;
  if (failure !== undefined)
    return { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message: failure };
  if (deployment.spec.progressDeadlineSeconds === undefined) return undefined;
  const pausing = pauseClaim(deployment);
  if (pausing) return pausing;
  const name = revisions.newSet?.metadata.name;
  const subject = name === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${name}"`;
  return deployment.spec.paused ? undefined : rolloutClaim(facts, { counts, subject });
}

interface Rollout {
  readonly facts: StatusFacts;
  readonly counts: DeploymentStatus;
  readonly subject: string;
  readonly before: DeploymentCondition | undefined;
}

/** The first that applies. */
const rolloutClaims: readonly ((rollout: Rollout) => Claim | undefined)[] = [
  ({ facts: { createdSet } }) =>
    createdSet === undefined
      ? undefined
      : progress('NewReplicaSetCreated', `Created new replica set "${createdSet}"`),
  ({ facts: { deployment }, counts, subject }) =>
    isComplete(deployment, counts)
      ? progress(rolledOut, `${subject} has successfully progressed.`)
      : undefined,
  ({ facts: { deployment }, counts, subject }) =>
    hasProgressed(deployment.status ?? {}, counts)
      ? progress('ReplicaSetUpdated', `${subject} is progressing.`)
      : undefined,
  // Going back to an earlier template: its time begins anew, so that it too can be late.
  ({ facts: { revisions }, before }) =>
    revisions.newSet && (!before || before.reason === rolledOut)
      ? progress('FoundNewReplicaSet', `Found new replica set "${revisions.newSet.metadata.name}"`)
      : undefined,
  ({ facts: { deployment, nowMs }, subject }) =>
    deadlineInMs(deployment, nowMs) === 0
      ? {
          type: 'Progressing',
          status: 'False',
          reason: 'ProgressDeadlineExceeded',
          message: `${subject} has timed out progressing.`,
        }
      : undefined,
];

function rolloutClaim(
  facts: StatusFacts,
  { counts, subject }: { readonly counts: DeploymentStatus; readonly subject: string },
): Claim | undefined {
  const before = findOne(facts.deployment.status?.conditions, 'Progressing');
  const { replicas = 0, updatedReplicas = 0 } = counts;
  // Scaling what has been rolled out is no rollout.
  const isScaling = replicas === updatedReplicas && before?.reason === rolledOut;
  if (isScaling && facts.createdSet === undefined) return undefined;
  for (const claimOf of rolloutClaims) {
    const claim = claimOf({ facts, counts, subject, before });
    if (claim) return claim;
  }
  return undefined;
}

function progress(reason: string, message: string): Claim {
  return { type: 'Progressing', status: 'True', reason, message };
}

function pauseClaim({ spec, status }: Deployment): Claim | undefined {
  const reason = findOne(status?.conditions, 'Progressing')?.reason;
  if (spec.paused && reason !== 'DeploymentPaused')
    return {
      type: 'Progressing',
      status: 'Unknown',
      reason: 'DeploymentPaused',
      message: 'Deployment is paused',
    };
  if (!spec.paused && reason === 'DeploymentPaused')
    return {
      type: 'Progressing',
      status: 'Unknown',
      reason: 'DeploymentResumed',
      message: 'Deployment is resumed',
    };
  return undefined;
}

function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const old = (counts: DeploymentStatus): number => (counts.replicas ?? 0) - (counts.updatedReplicas ?? 0);
  const grew = (count: (counts: DeploymentStatus) => number | undefined): boolean =>
    (count(now) ?? 0) > (count(before) ?? 0);
  return (
    old(now) < old(before) ||
    grew(({ updatedReplicas }) => updatedReplicas) ||
    grew(({ readyReplicas }) => readyReplicas) ||
    grew(({ availableReplicas }) => availableReplicas)
  );
}

/** `lastUpdateTime` moves whenever there is something new to say; a rollout that gets on says so each time. */
function withClaim(
  conditions: readonly DeploymentCondition[],
  claim: Claim,
  now: string,
): readonly DeploymentCondition[] {
  const old = findOne(conditions, claim.type);
  const isSame = old?.status === claim.status && old.reason === claim.reason;
  if (isSame && claim.reason !== 'ReplicaSetUpdated') return conditions;
  const lastTransitionTime = old?.status === claim.status ? (old.lastTransitionTime ?? now) : now;
  const next = { ...claim, lastUpdateTime: now, lastTransitionTime };
  return [...conditions.filter(({ type }) => type !== claim.type), next];
}

function findOne(
  conditions: readonly DeploymentCondition[] | undefined,
  type: string,
): DeploymentCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
