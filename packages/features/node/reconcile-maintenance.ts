import { asJson, type KubeObject, timestampOf } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type { VirtualMachine, VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import type { Pod } from '@sheaf/api/workload/index';
import { type Clock, jsonEqual, StatusError } from '@sheaf/base';
import { type Client, refOf, resources } from '@sheaf/client';
import { again, done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { needsStartRequest, revived, withStartRequest } from './machine-power.ts';
import {
  type MaintenancePlan,
  type MaintenanceStep,
  maintenanceCondition,
  planMaintenance,
} from './maintenance-plan.ts';
import { withClaims } from './node-conditions.ts';

export interface MaintenanceParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodes: ObjectCache<NodeObject>;
  readonly machines: ObjectCache<VirtualMachine>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly pods: ObjectCache<Pod>;
}

/** A disruption budget that holds a pod is asked again then. */
const evictAgainMs = 5000;

/** One pass over the maintenance of a node: what it says first, then the steps. */
export async function reconcileMaintenance(
  parts: MaintenanceParts,
  name: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { client, machines, instances, pods } = parts;
  const node = parts.nodes.get(name);
  if (!node || node.metadata.deletionTimestamp !== undefined) return done;
  const plan = planMaintenance({
    node,
    machines: machines.list(),
    instances: instances.list(),
    pods: pods.list(),
  });
  const conditions = conditionsOf(node, plan, timestampOf(parts.clock));
  if (conditions) {
    await client.updateStatus(
      resources.nodes,
      { ...node, status: { ...node.status, conditions } },
      { signal },
    );
    // The write wakes this pass again, with the node as it is then.
    return done;
  }
  for (const step of plan.steps) await takeStep(client, step, signal);
  return plan.steps.some(({ action }) => action === 'evict-pod') ? again(evictAgainMs) : done;
}

type Conditions = NonNullable<NonNullable<NodeObject['status']>['conditions']>;

/** `undefined`: they stand there already. */
function conditionsOf(
  { status }: NodeObject,
  { condition }: MaintenancePlan,
  now: string,
): Conditions | undefined {
  const old = status?.conditions ?? [];
  if (!condition) {
    const kept = old.filter(({ type }) => type !== maintenanceCondition);
    return kept.length < old.length ? kept : undefined;
  }
  const known = old.find(({ type }) => type === condition.type);
  const next = withClaims(old, [condition], known?.lastHeartbeatTime ?? now);
  const wrap = (conditions: Conditions): KubeObject => ({ metadata: {}, conditions });
  return jsonEqual(asJson(wrap(old)), asJson(wrap(next))) ? undefined : next;
}

async function takeStep(client: Client, step: MaintenanceStep, signal: AbortSignal): Promise<void> {
  const { nodes, virtualMachines, virtualMachineInstances } = resources;
  switch (step.action) {
    case 'update-node':
      await client.update(nodes, step.node, { signal });
      return;
    case 'stop-machine':
      await client.update(virtualMachines, step.machine, { signal });
      return;
    case 'delete-instance': {
      const { uid } = step.instance.metadata;
      const precondition = uid === undefined ? {} : { uid };
      await client.delete(virtualMachineInstances, refOf(step.instance), { ...precondition, signal });
      return;
    }
    case 'evict-pod':
      await evict(client, step.pod, signal);
      return;
    case 'start-machine':
      await start(client, step.machine, signal);
      return;
  }
}

/** What a disruption budget holds, or what is gone, is no failure: the node says what it waits for. */
async function evict(client: Client, pod: Pod, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '' } = pod.metadata;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
  const target = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  try {
    await client.raw(target, { method: 'POST', body: JSON.stringify(eviction), signal });
  } catch (error) {
    if (!StatusError.is(error, 'TooManyRequests') && !StatusError.is(error, 'NotFound')) throw error;
  }
}

/** The request goes first: the mark, by which one would know that it is still to be made, goes with the spec. */
async function start(client: Client, machine: VirtualMachine, signal: AbortSignal): Promise<void> {
  const { virtualMachines } = resources;
  const asked = needsStartRequest(machine) ? withStartRequest(machine) : machine;
  const current = asked === machine ? machine : await client.updateStatus(virtualMachines, asked, { signal });
  await client.update(virtualMachines, revived(current), { signal });
}
