import { type Condition, timestampOf, withCondition } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type { PersistentVolumeClaim, StorageClass } from '@sheaf/api/virtualization/index';
import { claimNameOf, foreignClaimText, type Pod, type Volume } from '@sheaf/api/workload/index';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import {
  done,
  type EventRecorder,
  type ObjectCache,
  type ReconcileResult,
  type WrittenObjects,
  waitFor,
} from '@sheaf/runtime';
import { withStatus } from '../pods/changed-status.ts';
import { budgetGuard, makeRoom } from './make-room.ts';
import { type ClaimFacts, planScheduling, type SchedulingFacts, type SchedulingStep } from './plan.ts';
import { isMakingRoom, planPreemption, priorityOf, withPromised } from './preemption.ts';

export interface SchedulerParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  /** What the scheduler has bound it sees at once, so that no room is given out twice. */
  readonly pods: WrittenObjects<Pod>;
  readonly nodes: ObjectCache<NodeObject>;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly classes: ObjectCache<StorageClass>;
  readonly machinesOn: SchedulingFacts['machinesOn'];
  readonly labelsOfNamespace: SchedulingFacts['labelsOfNamespace'];
}

/** Room comes back in ways that no watch tells. */
const againMs = 30_000;

/** One pass over a pod without a node. */
export async function reconcilePodPlace(
  parts: SchedulerParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const pods = await parts.pods.list(undefined, signal);
  const pod = pods.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key);
  if (!pod) return done;
  const facts = {
    ...parts,
    pod,
    nodes: parts.nodes.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    assigned: withPromised(pod, pods),
    claims: claimsOf(parts, pod),
  };
  const step = planScheduling(facts);
  switch (step.action) {
    case 'none':
      return done;
    case 'end':
      await end(parts, pod, signal);
      return done;
    case 'bind':
      await bind(parts, { pod, nodeName: step.nodeName }, signal);
      return done;
    case 'wait':
      await waitOrPreempt(parts, { facts, step }, signal);
      return waitFor(step.message, againMs);
  }
}

async function end({ client }: SchedulerParts, pod: Pod, signal: AbortSignal): Promise<void> {
  try {
    await client.updateStatus(
      resources.pods,
      { ...pod, status: { ...pod.status, phase: 'Failed' } },
      { signal },
    );
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

async function bind(
  { client, pods, recorder }: SchedulerParts,
  { pod, nodeName }: { readonly pod: Pod; readonly nodeName: string },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { namespace, name, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  };
  const target = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
  await client.raw(target, { method: 'POST', body: JSON.stringify(body), signal });
  const bound = await client.find(resources.pods, { namespace, name }, signal);
  if (bound?.metadata.uid === uid) pods.note(bound);
  recorder.record({
    about: aboutOf(pod),
    type: 'Normal',
    reason: 'Scheduled',
    message: `Successfully assigned ${namespace}/${name} to ${nodeName}`,
  });
}

interface Wait {
  readonly facts: SchedulingFacts;
  readonly step: Extract<SchedulingStep, { readonly action: 'wait' }>;
}

/** The place of less important pods is promised before they are ended, so that nobody else takes it. */
async function waitOrPreempt(
  parts: SchedulerParts,
  { facts, step }: Wait,
  signal: AbortSignal,
): Promise<void> {
  const { pod } = facts;
  const plan =
    step.isForRoom && isAboveAny(facts)
      ? planPreemption(facts, await budgetGuard(parts.client, signal))
      : undefined;
  const kept = isMakingRoom(facts) ? pod.status?.nominatedNodeName : undefined;
  const isTold = await tellWait(parts, { pod, step, promised: plan?.nodeName ?? kept }, signal);
  if (plan && isTold) await makeRoom(parts, { ...plan, pod }, signal);
}

function isAboveAny({ pod, assigned }: SchedulingFacts): boolean {
  return assigned.some((other) => priorityOf(other) < priorityOf(pod));
}

/** False: the pod has changed or gone meanwhile; its watch brings it again. */
async function tellWait(
  { client, clock, recorder, pods }: SchedulerParts,
  {
    pod,
    step: { reason, message },
    promised,
  }: { readonly pod: Pod; readonly step: Wait['step']; readonly promised: string | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const conditions = (pod.status?.conditions ?? []) as readonly Condition[];
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  const claim = { type: 'PodScheduled', status: 'False', reason, message } as const;
  const next = withStatus(pod, {
    phase: 'Pending',
    ...status,
    ...(promised !== undefined && { nominatedNodeName: promised }),
    conditions: withCondition(conditions, claim, timestampOf(clock)),
  });
  if (!next) return true;
  try {
    pods.note(await client.updateStatus(resources.pods, next, { signal }));
  } catch (error) {
    if (!StatusError.is(error, 'Conflict') && !StatusError.is(error, 'NotFound')) throw error;
    return false;
  }
  if (reason === 'Unschedulable')
    recorder.record({ about: aboutOf(pod), type: 'Warning', reason: 'FailedScheduling', message });
  return true;
}

function aboutOf({ metadata }: Pod): Parameters<EventRecorder['record']>[0]['about'] {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { resource: resources.pods, namespace, name, uid };
}

function claimsOf(parts: SchedulerParts, pod: Pod): readonly ClaimFacts[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume);
    return name === undefined ? [] : [claimFacts(parts, { pod, volume, name })];
  });
}

function claimFacts(
  { claims, classes }: SchedulerParts,
  { pod, volume, name }: { readonly pod: Pod; readonly volume: Volume; readonly name: string },
): ClaimFacts {
  const claim = claims.get(`${pod.metadata.namespace}/${name}`);
  return {
    name,
    ...ownership(pod, volume, claim),
    isThere: claim !== undefined && claim.metadata.deletionTimestamp === undefined,
    isBound: claim?.status?.phase === 'Bound',
    waitsForUser:
      classes.get(claim?.spec?.storageClassName ?? '')?.volumeBindingMode === 'WaitForFirstConsumer',
  };
}

/** Whether the claim is to be made for the pod, and why it is not the pod's. */
function ownership(
  pod: Pod,
  volume: Volume,
  claim: PersistentVolumeClaim | undefined,
): Pick<ClaimFacts, 'isMadeForPod' | 'foreignText'> {
  if (volume.ephemeral === undefined) return {};
  const foreignText = claim && foreignClaimText(pod, claim);
  return { isMadeForPod: true, ...(foreignText !== undefined && { foreignText }) };
}
