import type { NodeObject } from '@sheaf/api/node/index';
import type { DaemonSet, Pod } from '@sheaf/api/workload/index';
import { type Clock, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type EventRecorder, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { revisionHashLabel, revisionHashOf } from '../pods/controller-revision.ts';
import type { Owner } from '../pods/owned-objects.ts';
import type { OwnedPods } from '../pods/owned-pods.ts';
import { claimsOf } from '../pods/ownership.ts';
import { recheck } from '../pods/recheck.ts';
import type { History, RevisionHistory } from '../pods/revision-history.ts';
import { daemonTemplate, nodeNameOf } from './daemon-pod.ts';
import { type DaemonSetFacts, type DaemonSetStep, planDaemonSet, recheckInMs } from './plan.ts';
import type { RestAfterFailure } from './rest-after-failure.ts';
import { planDaemonSetStatus } from './status.ts';

export interface DaemonSetParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly sets: ObjectCache<DaemonSet>;
  readonly nodes: ObjectCache<NodeObject>;
  readonly pods: OwnedPods;
  readonly history: RevisionHistory;
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
  const history = await parts.history.record(owner, signal);
  const before = await readFacts(parts, { set, history }, signal);
  const step = planDaemonSet(before);
  const restMs = restOf(parts, { set, step });
  const problem =
    restMs > 0
      ? undefined
      : await takeStep(parts, { facts: before, owner, step }, signal).then(() => undefined, toError);
  const facts = await readFacts(parts, { set, history }, signal);
  const next = planDaemonSetStatus(facts, history.collisionCount);
  if (next) await parts.client.updateStatus(resources.daemonSets, next, { signal });
  if (problem) throw problem;
  if (restMs > 0) return again(restMs);
  if (step.action !== 'none') return again(0);
  await parts.history.prune(
    history,
    { limit: set.spec.revisionHistoryLimit ?? 10, used: usedRevisions(facts, history) },
    signal,
  );
  return recheck(recheckInMs(facts), parts.pods.doubtInMs);
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
        step.nodeNames.map((nodeName) => orderOf(facts, nodeName)),
        signal,
      );
    case 'delete':
      return pods.deleteMany(owner, step.pods, signal);
    case 'replace':
      for (const pod of step.pods) tellEnd(parts, facts.set, pod);
      return pods.deleteMany(owner, step.pods, signal);
  }
}

function orderOf(
  { set, update }: DaemonSetFacts,
  nodeName: string,
): Parameters<OwnedPods['createMany']>[1][number] {
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
