import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import type {
  ControllerRevision,
  StatefulSet,
  PersistentVolumeClaim as TemplateClaim,
} from '@sheaf/api/workload/index';
import { type Clock, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { templateOf } from '../pods/controller-revision.ts';
import type { Owner } from '../pods/owned-objects.ts';
import type { PodOrder } from '../pods/owned-pods.ts';
import { claimsOf } from '../pods/ownership.ts';
import { type PodStep, takePodStep } from '../pods/pod-step.ts';
import type { History } from '../pods/revision-history.ts';
import { type RevisionedPlan, reconcileRevisioned } from '../pods/revisioned-pass.ts';
import type { RevisionedSets } from '../pods/revisioned-register.ts';
import { planClaimOwners } from './claim-retention.ts';
import { ordinalTemplate, podName, revisionNameOf } from './ordinal-pod.ts';
import {
  type GoingClaims,
  planStatefulSet,
  recheckInMs,
  revisionFor,
  type StatefulSetFacts,
  type StatefulSetStep,
} from './plan.ts';
import { planStatefulSetStatus } from './status.ts';

export interface StatefulSetParts extends RevisionedSets<StatefulSet> {
  readonly clock: Clock;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
}

/** One pass over a stateful set: one step, then its status. */
export async function reconcileStatefulSet(
  parts: StatefulSetParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const set = parts.sets.get(key);
  if (!set) return done;
  const owner = { object: set, resource: resources.statefulSets };
  const kind: RevisionedPlan<StatefulSetFacts, StatefulSetStep> = {
    owner,
    read: (history) => readFacts(parts, { set, history }, signal),
    plan: planStatefulSet,
    async take(facts, step) {
      // Who owns a claim is settled before its pod goes.
      await keepClaims(parts, facts, signal);
      await takeStep(parts, { facts, owner, step }, signal);
    },
    status: (facts, { collisionCount }) => planStatefulSetStatus(facts, collisionCount),
    used: usedRevisions,
    recheckInMs,
  };
  return reconcileRevisioned(parts, kind, signal);
}

async function readFacts(
  { pods, claims, clock }: StatefulSetParts,
  { set, history }: { readonly set: StatefulSet; readonly history: History },
  signal: AbortSignal,
): Promise<StatefulSetFacts> {
  const { namespace = '' } = set.metadata;
  const { update, revisions } = history;
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return {
    set,
    pods: await pods.list(namespace, signal),
    claims: claims.list(namespace) as unknown as readonly TemplateClaim[],
    update,
    current,
    nowMs: clock.now(),
  };
}

function usedRevisions({ set, pods, current, update }: StatefulSetFacts): ReadonlySet<string> {
  const own = claimsOf(set, pods).owned.map(revisionNameOf);
  return new Set([...own, current.metadata.name ?? '', update.metadata.name ?? '']);
}

async function takeStep(
  parts: StatefulSetParts,
  {
    facts,
    owner,
    step,
  }: { readonly facts: StatefulSetFacts; readonly owner: Owner; readonly step: StatefulSetStep },
  signal: AbortSignal,
): Promise<void> {
  if (step.action === 'create-claims')
    return createClaims(parts, { set: facts.set, claims: step.claims }, signal);
  if (step.action === 'none' && step.going) sayGoing(parts, facts.set, step.going);
  const podStep: PodStep =
    step.action === 'create'
      ? { action: 'create', orders: step.ordinals.map((ordinal) => orderOf(facts, ordinal)) }
      : step;
  return takePodStep(parts.pods, { owner, step: podStep }, signal);
}

function orderOf(facts: StatefulSetFacts, ordinal: number): PodOrder {
  const { set } = facts;
  const revision: ControllerRevision = revisionFor(facts, ordinal);
  const template = templateOf(revision);
  return {
    template: ordinalTemplate(set, { template, revision: revision.metadata.name ?? '', ordinal }),
    place: {
      namespace: set.metadata.namespace ?? '',
      generateName: `${set.metadata.name}-`,
      name: podName(set, ordinal),
    },
  };
}

async function createClaims(
  { client, recorder }: StatefulSetParts,
  { set, claims }: { readonly set: StatefulSet; readonly claims: readonly TemplateClaim[] },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = set.metadata;
  const about = { resource: resources.statefulSets, namespace, name, uid };
  for (const claim of claims) {
    const { name: claimName = '' } = claim.metadata;
    const podOfClaim = claimName.slice(claimName.lastIndexOf(`${name}-`));
    try {
      await client.create(resources.persistentVolumeClaims, claim, {
        signal,
      });
      recorder.record({
        about,
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: `Create Claim ${claimName} Pod ${podOfClaim} in StatefulSet ${name} success`,
      });
    } catch (error) {
      if (StatusError.is(error, 'AlreadyExists')) continue;
      const message = `Create Claim ${claimName} for Pod ${podOfClaim} in StatefulSet ${name} failed error: ${toError(error).message}`;
      recorder.record({ about, type: 'Warning', reason: 'FailedCreate', message });
      throw error;
    }
  }
}

function sayGoing({ recorder }: StatefulSetParts, set: StatefulSet, { ordinal, names }: GoingClaims): void {
  const { namespace = '', name = '', uid = '' } = set.metadata;
  recorder.record({
    about: { resource: resources.statefulSets, namespace, name, uid },
    type: 'Warning',
    reason: 'FailedCreate',
    message: `create Pod ${podName(set, ordinal)} in StatefulSet ${name} failed error: pvc ${names.join(', ')} is being deleted`,
  });
}

async function keepClaims(
  { client }: StatefulSetParts,
  facts: StatefulSetFacts,
  signal: AbortSignal,
): Promise<void> {
  const changed = planClaimOwners(facts);
  if (changed.length === 0 || (await isLeaving(client, facts.set, signal))) return;
  for (const claim of changed)
    await client.update(resources.persistentVolumeClaims, claim, {
      signal,
    });
}

/** Not on the word of a cache: a claim whose owner is gone goes too, also where it was to stay. */
async function isLeaving(client: Client, { metadata }: StatefulSet, signal: AbortSignal): Promise<boolean> {
  const { namespace = '', name = '', uid } = metadata;
  const now = await client.find(resources.statefulSets, { namespace, name }, signal);
  return now?.metadata.uid !== uid || now?.metadata.deletionTimestamp !== undefined;
}
