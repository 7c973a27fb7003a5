import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import type {
  ControllerRevision,
  StatefulSet,
  PersistentVolumeClaim as TemplateClaim,
} from '@sheaf/api/workload/index';
import { type Clock, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type EventRecorder, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { templateOf } from '../pods/controller-revision.ts';
import type { Owner } from '../pods/owned-objects.ts';
import type { OwnedPods } from '../pods/owned-pods.ts';
import { claimsOf } from '../pods/ownership.ts';
import { recheck } from '../pods/recheck.ts';
import type { History, RevisionHistory } from '../pods/revision-history.ts';
import { planClaimOwners } from './claim-retention.ts';
import { ordinalTemplate, podName, revisionNameOf } from './ordinal-pod.ts';
import {
  planStatefulSet,
  recheckInMs,
  revisionFor,
  type StatefulSetFacts,
  type StatefulSetStep,
} from './plan.ts';
import { planStatefulSetStatus } from './status.ts';

export interface StatefulSetParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly sets: ObjectCache<StatefulSet>;
  readonly pods: OwnedPods;
  readonly history: RevisionHistory;
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
  const history = await parts.history.record(owner, signal);
  const before = await readFacts(parts, { set, history }, signal);
  // Who owns a claim is settled before its pod goes.
  await keepClaims(parts, before, signal);
  const step = planStatefulSet(before);
  const problem = await takeStep(parts, { facts: before, owner, step }, signal).then(
    () => undefined,
    toError,
  );
  const facts = await readFacts(parts, { set, history }, signal);
  const next = planStatefulSetStatus(facts, history.collisionCount);
  if (next) await parts.client.updateStatus(resources.statefulSets, next, { signal });
  if (problem) throw problem;
  if (step.action !== 'none') return again(0);
  await parts.history.prune(
    history,
    { limit: set.spec.revisionHistoryLimit ?? 10, used: usedRevisions(facts) },
    signal,
  );
  return recheck(recheckInMs(facts), parts.pods.doubtInMs);
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
  const { pods } = parts;
  switch (step.action) {
    case 'none':
      return;
    case 'adopt':
      return pods.adopt(owner, step.pods, signal);
    case 'release':
      return pods.release(owner, step.pods, signal);
    case 'create':
      return pods.createMany(
        owner,
        step.ordinals.map((ordinal) => orderOf(facts, ordinal)),
        signal,
      );
    case 'delete':
      return pods.deleteMany(owner, step.pods, signal);
    case 'create-claims':
      return createClaims(parts, { set: facts.set, claims: step.claims }, signal);
  }
}

function orderOf(facts: StatefulSetFacts, ordinal: number): Parameters<OwnedPods['createMany']>[1][number] {
  const { set } = facts;
  const revision: ControllerRevision = revisionFor(facts, ordinal);
  const template = templateOf(revision);
  return {
    template: ordinalTemplate(set, { template, revision: revision.metadata.name ?? '', ordinal }),
    place: { namespace: set.metadata.namespace ?? '', name: podName(set, ordinal) },
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
    const subject = `Claim ${claim.metadata.name} in StatefulSet ${name}`;
    try {
      await client.create(resources.persistentVolumeClaims, claim, {
        signal,
      });
      recorder.record({
        about,
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: `create ${subject} success`,
      });
    } catch (error) {
      if (StatusError.is(error, 'AlreadyExists')) continue;
      const message = `create ${subject} failed error: ${toError(error).message}`;
      recorder.record({ about, type: 'Warning', reason: 'FailedCreate', message });
      throw error;
    }
  }
}

async function keepClaims(
  { client }: StatefulSetParts,
  facts: StatefulSetFacts,
  signal: AbortSignal,
): Promise<void> {
  for (const claim of planClaimOwners(facts))
    await client.update(resources.persistentVolumeClaims, claim, {
      signal,
    });
}
