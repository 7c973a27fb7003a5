import { type Condition, findCondition, type Waiting, waitingCondition, withCondition } from '@sheaf/api';
import type { PersistentVolumeClaimStatus } from '@sheaf/api/virtualization/index';
import { type ClaimFacts, type ClaimStep, isBoundBy } from './plan.ts';
import { isOurs, requestedText } from './volume-object.ts';

/** Conditions of ours, and those of Kubernetes that we keep. */
const managed: ReadonlySet<string> = new Set(['Bound', 'Resizing', 'ControllerResizeError']);

interface Taken {
  readonly step: ClaimStep;
  /** What the step has come to. */
  readonly waiting: Waiting | undefined;
  readonly now: string;
}

/** What is to be seen of a claim once its step has been taken. */
export function planClaimStatus(facts: ClaimFacts, taken: Taken): PersistentVolumeClaimStatus {
  const { claim, volume, observation } = facts;
  const old = claim.status ?? {};
  if (!volume || !isBoundBy(volume, claim)) return unboundStatus(old, taken);
  if (isOurs(volume) && !observation) return lostStatus(old, taken);
  const { state, claims } = growthOf(facts, taken);
  return {
    ...old,
    phase: 'Bound',
    accessModes: [...volume.spec.accessModes],
    capacity: { ...volume.spec.capacity },
    allocatedResources: state ? { storage: requestedText(claim) } : undefined,
    allocatedResourceStatuses: state ? { storage: state } : undefined,
    conditions: withOwn(old, claims, taken.now),
  };
}

type Claim = Omit<Condition, 'lastTransitionTime'>;

/** The conditions of others, and these of ours. */
function withOwn(
  { conditions = [] }: PersistentVolumeClaimStatus,
  claims: readonly Claim[],
  now: string,
): readonly Condition[] | undefined {
  const kept = conditions.filter(
    ({ type }) => !managed.has(type) || claims.some((each) => each.type === type),
  );
  const next = claims.reduce<readonly Condition[]>((all, each) => withFigures(all, each, now), kept);
  return next.length > 0 ? next : undefined;
}

const figuresHoldMs = 30_000;

/** Free space changes all the time, also by the writing of this: its figures are renewed now and then. */
function withFigures(all: readonly Condition[], claim: Claim, now: string): readonly Condition[] {
  if (claim.reason !== 'InsufficientSpace') return withCondition(all, claim, now);
  const old: (Condition & { readonly lastProbeTime?: string }) | undefined = findCondition(all, claim.type);
  const isSame = old?.reason === claim.reason && old.status === claim.status;
  if (isSame && Date.parse(now) - Date.parse(old.lastProbeTime ?? '') < figuresHoldMs) return all;
  const probed = { ...claim, lastProbeTime: now };
  return withCondition(all, probed, now);
}

function unboundStatus(old: PersistentVolumeClaimStatus, taken: Taken): PersistentVolumeClaimStatus {
  const { waiting, now } = taken;
  if (old.phase === 'Bound' || old.phase === 'Lost') return lostStatus(old, taken);
  // Between two steps it waits for nothing new.
  if (!waiting) return { ...old, phase: 'Pending' };
  const claims = [waitingCondition({ type: 'Bound', status: 'False' }, waiting)];
  return { ...old, phase: 'Pending', conditions: withOwn(old, claims, now) };
}

const lostVolume: Waiting = {
  reason: 'VolumeLost',
  text: 'Its volume is not there any more',
  nature: 'fault',
  wayOut: 'bring the directory of the volumes back, or delete the claim and restore its content',
};

function lostStatus(
  old: PersistentVolumeClaimStatus,
  { waiting = lostVolume, now }: Taken,
): PersistentVolumeClaimStatus {
  const claims = [waitingCondition({ type: 'Bound', status: 'False' }, waiting)];
  return { ...old, phase: 'Lost', conditions: withOwn(old, claims, now) };
}

interface Growth {
  readonly state?: string;
  readonly claims: readonly Claim[];
}

/** As Kubernetes shows an expansion that goes on, and one that cannot. */
function growthOf({ claim }: ClaimFacts, { step, waiting }: Taken): Growth {
  if (claim.metadata.deletionTimestamp !== undefined) return { claims: [] };
  if (step.action !== 'expand' && step.action !== 'wait') return { claims: [] };
  if (!waiting)
    return { state: 'ControllerResizeInProgress', claims: [{ type: 'Resizing', status: 'True' }] };
  const claims = [waitingCondition({ type: 'Resizing', status: 'True' }, waiting)];
  if (waiting.nature === 'transient') return { state: 'ControllerResizeInProgress', claims };
  const failure = waitingCondition({ type: 'ControllerResizeError', status: 'True' }, waiting);
  return { state: 'ControllerResizeInfeasible', claims: [...claims, failure] };
}
