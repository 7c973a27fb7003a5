import { timestampOf } from '@sheaf/api';
import type { ReplicaSet } from '@sheaf/api/workload/index';
import { type Clock, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import type { OwnedPods } from '../pods/owned-pods.ts';
import { type PodStep, takePodStep } from '../pods/pod-step.ts';
import { recheck } from '../pods/recheck.ts';
import {
  planReplicaSet,
  planReplicaSetStatus,
  type ReplicaSetFacts,
  type ReplicaSetStep,
  recheckInMs,
  type StepFailure,
} from './plan.ts';

export interface ReplicaSetParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly sets: ObjectCache<ReplicaSet>;
  readonly pods: OwnedPods;
}

/** One pass over a replica set: one step, then its status. */
export async function reconcileReplicaSet(
  parts: ReplicaSetParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const set = parts.sets.get(key);
  if (!set) return done;
  const step = planReplicaSet(await readFacts(parts, set, signal));
  const owner = { object: set, resource: resources.replicaSets };
  const taken = takePodStep(parts.pods, { owner, step: podStepOf(set, step) }, signal);
  const problem = await taken.then(() => undefined, toError);
  const facts = await readFacts(parts, set, signal);
  const failure = problem && failureOf(step, problem);
  const next = planReplicaSetStatus(facts, { failure, now: timestampOf(parts.clock) });
  if (next) await parts.client.updateStatus(resources.replicaSets, next, { signal });
  if (problem) throw problem;
  // The watch of what was changed wakes it too; but one that changed nothing more must not be waited for.
  return step.action === 'none' ? recheck(recheckInMs(facts), parts.pods.doubtInMs) : again(0);
}

async function readFacts(
  { pods, clock }: ReplicaSetParts,
  set: ReplicaSet,
  signal: AbortSignal,
): Promise<ReplicaSetFacts> {
  return { set, pods: await pods.list(set.metadata.namespace ?? '', signal), nowMs: clock.now() };
}

function podStepOf({ metadata, spec }: ReplicaSet, step: ReplicaSetStep): PodStep {
  if (step.action !== 'create') return step;
  const { namespace = '', name = '' } = metadata;
  const order = { template: spec.template, place: { namespace, generateName: `${name}-` } };
  return { action: 'create', orders: Array.from({ length: step.count }, () => order) };
}

function failureOf({ action }: ReplicaSetStep, { message }: Error): StepFailure {
  return { reason: action === 'delete' ? 'FailedDelete' : 'FailedCreate', message };
}
