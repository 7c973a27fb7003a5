import {
  type KubeObject,
  type LabelSelector,
  labelMatcherOf,
  matchesLabels,
  timestampOf,
  withCondition,
} from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import type { EventRecorder } from '@sheaf/runtime';
import type { Preemption } from './preemption.ts';

interface Budget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
  readonly status?: { readonly disruptionsAllowed?: number };
}

const budgets: ResourceRef<Budget> = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};

export interface RoomMaker {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
}

/** Whether the end of a pod would break a promise about how many there are. */
export async function budgetGuard(client: Client, signal: AbortSignal): Promise<(pod: Pod) => boolean> {
  const { items } = await client.list(budgets, { signal });
  const strict = items
    .filter(({ status }) => (status?.disruptionsAllowed ?? 0) <= 0)
    .map(({ metadata, spec }) => ({
      namespace: metadata.namespace,
      matcher: labelMatcherOf(spec?.selector),
    }));
  return ({ metadata }) =>
    strict.some(
      ({ namespace, matcher }) =>
        namespace === metadata.namespace && matchesLabels(matcher, metadata.labels ?? {}),
    );
}

/** Ends pods, with the time that they may take, and tells them for whom. */
export async function makeRoom(
  { client, clock, recorder }: RoomMaker,
  { victims, nodeName, pod }: Preemption & { readonly pod: Pod },
  signal: AbortSignal,
): Promise<void> {
  for (const victim of victims) {
    const { namespace = '', name = '', uid = '' } = victim.metadata;
    const claim = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'default-scheduler: preempting to accommodate a higher priority pod',
    } as const;
    const conditions = withCondition(victim.status?.conditions ?? [], claim, timestampOf(clock));
    try {
      await client.updateStatus(
        resources.pods,
        { ...victim, status: { ...victim.status, conditions } },
        { signal },
      );
      await client.delete(resources.pods, { namespace, name }, { uid, signal });
    } catch (error) {
      // It has changed or gone meanwhile: the next pass decides anew.
      if (!StatusError.is(error, 'Conflict') && !StatusError.is(error, 'NotFound')) throw error;
      continue;
    }
    recorder.record({
      about: { resource: resources.pods, namespace, name, uid },
      type: 'Normal',
      reason: 'Preempted',
      message: `Preempted by pod ${pod.metadata.uid} on node ${nodeName}`,
    });
  }
}
