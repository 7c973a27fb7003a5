import type { NodeObject } from '@sheaf/api/node/index';
import type { Clock } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import type { Host } from '@sheaf/ports';
import { again, done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { leaseNamespace, type NodeLease, planLease, renewMs } from './lease.ts';
import type { NodeAbilities, NodeContainers } from './node-conditions.ts';
import { planForeignNode, planNode } from './plan.ts';

export interface NodeParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly host: Host;
  readonly nodes: ObjectCache<NodeObject>;
  readonly nodeName: string;
  readonly version: string;
  readonly abilities: () => NodeAbilities;
  readonly containers: () => NodeContainers;
}

const { nodes } = resources;
const leases: ResourceRef<NodeLease> = resources.leases;

/** One pass over a node: that of this host is kept true, of others it is told when nobody reports for them. */
export async function reconcileNode(
  parts: NodeParts,
  name: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  return name === parts.nodeName ? keep(parts, signal) : watchOver(parts, name, signal);
}

async function keep(parts: NodeParts, signal: AbortSignal): Promise<ReconcileResult> {
  const { client, clock, nodeName: name, version } = parts;
  const [host, observed] = await Promise.all([parts.host.read(signal), client.find(nodes, { name }, signal)]);
  if (observed?.metadata.deletionTimestamp !== undefined) return again(renewMs);
  const plan = planNode({
    name,
    observed,
    host,
    version,
    abilities: parts.abilities(),
    containers: parts.containers(),
    nowMs: clock.now(),
  });
  const node = await writeObject(client, { observed, object: plan.object }, signal);
  if (node && plan.status) await client.updateStatus(nodes, { ...node, status: plan.status }, { signal });
  if (node) await renew(parts, node, signal);
  return again(renewMs);
}

interface Written {
  readonly observed: NodeObject | undefined;
  readonly object: NodeObject | undefined;
}

async function writeObject(
  client: Client,
  { observed, object }: Written,
  signal: AbortSignal,
): Promise<NodeObject | undefined> {
  if (!object) return observed;
  return observed ? client.update(nodes, object, { signal }) : client.create(nodes, object, { signal });
}

async function renew({ client, clock }: NodeParts, node: NodeObject, signal: AbortSignal): Promise<void> {
  const { name = '' } = node.metadata;
  const lease = await client.find(leases, { namespace: leaseNamespace, name }, signal);
  const planned = planLease(node, lease, clock.now());
  if (!planned) return;
  if (lease) await client.update(leases, planned, { signal });
  else await client.create(leases, planned, { signal });
}

async function watchOver(parts: NodeParts, name: string, signal: AbortSignal): Promise<ReconcileResult> {
  const { client, clock, nodeName } = parts;
  const observed = parts.nodes.get(name);
  if (!observed || observed.metadata.deletionTimestamp !== undefined) return done;
  const lease = await client.find(leases, { namespace: leaseNamespace, name }, signal);
  const renewedAt = lease?.spec?.renewTime;
  const plan = planForeignNode({ observed, renewedAt, ownName: nodeName, nowMs: clock.now() });
  if ('lookMs' in plan) return again(plan.lookMs);
  await client.updateStatus(nodes, { ...observed, status: plan.status }, { signal });
  return done;
}
