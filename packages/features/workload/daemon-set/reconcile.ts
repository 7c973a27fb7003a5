import type { NodeObject } from '@sheaf/api/node/index';
import type { DaemonSet, Pod } from '@sheaf/api/workload/index';
import type { Clock } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { revisionHashLabel, revisionHashOf } from '../pods/controller-revision.ts';
import type { Owner } from '../pods/owned-objects.ts';
import type { PodOrder } from '../pods/owned-pods.ts';
import { claimsOf } from '../pods/ownership.ts';
import { type PodStep, takePodStep } from '../pods/pod-step.ts';
import type { History } from '../pods/revision-history.ts';
import { type RevisionedPlan, reconcileRevisioned } from '../pods/revisioned-pass.ts';
import type { RevisionedSets } from '../pods/revisioned-register.ts';
import { daemonTemplate, nodeNameOf } from './daemon-pod.ts';
import { type DaemonSetFacts, type DaemonSetStep, planDaemonSet, recheckInMs } from './plan.ts';
import type { RestAfterFailure } from './rest-after-failure.ts';
import { planDaemonSetStatus } from './status.ts';

export interface DaemonSetParts extends RevisionedSets<DaemonSet> {
  readonly clock: Clock;
  readonly nodes: ObjectCache<NodeObject>;
  readonly rests: RestAfterFailure;
}

const generationAnnotation = 'deprecated.daemonset.template.generation';

/** One pass over a daemon set: one step, then its status. */
export async function reconcileDaemonSet(
  parts: DaemonSetParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const set = parts.sets.get(key);
  if (!set) return done;
  const owner = { object: set, resource: resources.daemonSets };
  const kind: RevisionedPlan<DaemonSetFacts, DaemonSetStep> = {
    owner,
    read: (history) => readFacts(parts, { set, history }, signal),
    plan: planDaemonSet,
    restMs: (step) => restOf(parts, { set, step }),
    take: (facts, step) => takeStep(parts, { facts, owner, step }, signal),
    status: (facts, { collisionCount }) => planDaemonSetStatus(facts, collisionCount),
    used: usedRevisions,
    recheckInMs,
  };
  return reconcileRevisioned(parts, kind, signal);
}

async function readFacts(
  { pods, nodes, clock }: DaemonSetParts,
  { set, history }: { readonly set: DaemonSet; readonly history: History },
  signal: AbortSignal,
): Promise<DaemonSetFacts> {
  const { namespace = '' } = set.metadata;
  return {
    set,
    nodes: nodes.list(),
    pods: await pods.list(namespace, signal),
    update: history.update,
    nowMs: clock.now(),
  };
}

function usedRevisions({ set, pods, update }: DaemonSetFacts, { revisions }: History): ReadonlySet<string> {
  const hashes = new Set(
    claimsOf(set, pods).owned.map(({ metadata }) => metadata.labels?.[revisionHashLabel]),
  );
  const used = revisions.filter((revision) => hashes.has(revisionHashOf(revision)));
  return new Set([...used, update].map(({ metadata }) => metadata.name ?? ''));
}

async function takeStep(
  parts: DaemonSetParts,
  {
    facts,
    owner,
    step,
  }: { readonly facts: DaemonSetFacts; readonly owner: Owner; readonly step: DaemonSetStep },
  signal: AbortSignal,
): Promise<void> {
  return takePodStep(parts.pods, { owner, step: podStepOf(parts, facts, step) }, signal);
}

function podStepOf(parts: DaemonSetParts, facts: DaemonSetFacts, step: DaemonSetStep): PodStep {
  if (step.action === 'create')
    return { action: 'create', orders: step.nodeNames.map((nodeName) => orderOf(facts, nodeName)) };
  if (step.action !== 'replace') return step;
  for (const pod of step.pods) tellEnd(parts, facts.set, pod);
  return { action: 'delete', pods: step.pods };
}

function orderOf({ set, update }: DaemonSetFacts, nodeName: string): PodOrder {
  const { namespace = '', name = '', annotations = {}, generation = 1 } = set.metadata;
  return {
    place: { namespace, generateName: `${name}-` },
    template: daemonTemplate(set.spec.template, {
      nodeName,
      revisionHash: revisionHashOf(update),
      generation: annotations[generationAnnotation] ?? String(generation),
    }),
  };
}

function restOf(
  { rests }: DaemonSetParts,
  { set, step }: { readonly set: DaemonSet; readonly step: DaemonSetStep },
): number {
  if (step.action !== 'replace') return 0;
  return Math.max(...step.pods.map((pod) => rests.remainingMs(restKey(set, pod))));
}

function restKey({ metadata }: DaemonSet, pod: Pod): string {
  return `${metadata.uid} ${nodeNameOf(pod)}`;
}

function tellEnd({ recorder, rests }: DaemonSetParts, set: DaemonSet, pod: Pod): void {
  const { namespace = '', name = '', uid = '' } = set.metadata;
  const hasFailed = pod.status?.phase === 'Failed';
  const which = `${namespace}/${pod.metadata.name} on node ${nodeNameOf(pod)}`;
  const about = { resource: resources.daemonSets, namespace, name, uid };
  recorder.record(
    hasFailed
      ? {
          about,
          type: 'Warning',
          reason: 'FailedDaemonPod',
          message: `Found failed daemon pod ${which}, will try to kill it`,
        }
      : {
          about,
          type: 'Normal',
          reason: 'SucceededDaemonPod',
          message: `Found succeeded daemon pod ${which}, will try to delete it`,
        },
  );
  rests.noteFailure(restKey(set, pod));
}
