import { asJson, timestampOf } from '@sheaf/api';
import type { NodeCondition, NodeObject } from '@sheaf/api/node/index';
import { type JsonObject, jsonEqual } from '@sheaf/base';
import type { HostFacts } from '@sheaf/ports';
import { type NodeAbilities, type NodeContainers, withClaims } from './node-conditions.ts';
import { nodeMetadata, nodeTaints } from './node-metadata.ts';
import { nodeStatus } from './node-status.ts';

/** Everything that decides about the node of this host; read anew for each pass. */
export interface NodeFacts {
  readonly name: string;
  readonly observed: NodeObject | undefined;
  readonly host: HostFacts;
  readonly abilities: NodeAbilities;
  readonly containers: NodeContainers;
  /** Of Sheaf. */
  readonly version: string;
  readonly nowMs: number;
}

/** What is to be written; `undefined`: it stands there already. */
export interface NodePlan {
  /** Metadata and spec. */
  readonly object: NodeObject | undefined;
  readonly status: NonNullable<NodeObject['status']> | undefined;
}

/** A status in which nothing has changed is written this often, so that one sees that somebody still looks. */
const heartbeatMs = 5 * 60_000;

/** The node of this host. What others have written into it stays, unless it contradicts a fact. */
export function planNode(facts: NodeFacts): NodePlan {
  const { name, observed, host, abilities, nowMs } = facts;
  const node: NodeObject = observed ?? { metadata: { name } };
  const now = timestampOf({ now: () => nowMs });
  const status = nodeStatus(node.status ?? {}, { ...facts, now });
  const taints = nodeTaints(node.spec, status.conditions ?? [], now);
  const { taints: _, ...spec } = node.spec ?? {};
  const object: NodeObject = {
    ...node,
    metadata: nodeMetadata(node.metadata, host, abilities),
    spec: { ...spec, ...(taints.length > 0 ? { taints } : {}) },
  };
  return {
    object: observed && isSame(observed, object) ? undefined : object,
    status: isFresh(node.status, status, nowMs) ? undefined : status,
  };
}

function isSame(a: NodeObject, b: NodeObject): boolean {
  const { labels, annotations } = a.metadata;
  const [old, next] = [
    { labels: labels ?? {}, annotations: annotations ?? {}, spec: a.spec ?? {} },
    { labels: b.metadata.labels, annotations: b.metadata.annotations, spec: b.spec },
  ];
  return jsonEqual(asJson({ metadata: {}, ...old }), asJson({ metadata: {}, ...next }));
}

function isFresh(old: NodeObject['status'], next: NodeObject['status'], nowMs: number): boolean {
  const heard = Date.parse(conditionOf(old, 'Ready')?.lastHeartbeatTime ?? '');
  return nowMs - heard < heartbeatMs && jsonEqual(withoutHeartbeats(old), withoutHeartbeats(next));
}

function withoutHeartbeats(status: NodeObject['status']): JsonObject {
  const conditions = (status?.conditions ?? []).map((condition) => ({ ...condition, lastHeartbeatTime: '' }));
  return JSON.parse(JSON.stringify({ ...status, conditions })) as JsonObject;
}

function conditionOf(status: NodeObject['status'], type: string): NodeCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export interface ForeignFacts {
  readonly observed: NodeObject;
  /** `spec.renewTime` of its lease. */
  readonly renewedAt: string | undefined;
  /** The node of this host. */
  readonly ownName: string;
  readonly nowMs: number;
}

/** How long a node may be silent, and one that was never heard of may take. */
const silenceMs = 40_000;
const firstReportMs = 60_000;

/** A node that nobody reports for: nothing is known of it any more. The status, if it is to change; else when to look again. */
export function planForeignNode(
  facts: ForeignFacts,
): { readonly status: NonNullable<NodeObject['status']> } | { readonly lookMs: number } {
  const { observed, nowMs } = facts;
  const quietMs = silenceOf(facts);
  if (quietMs > 0) return { lookMs: quietMs };
  const now = timestampOf({ now: () => nowMs });
  const old = observed.status?.conditions ?? [];
  const conditions = withClaims(old, silentClaims(facts), now).map((condition) => {
    const heard = old.find(({ type }) => type === condition.type)?.lastHeartbeatTime;
    const { lastHeartbeatTime: _, ...rest } = condition;
    return heard === undefined ? rest : { ...rest, lastHeartbeatTime: heard };
  });
  const status = { ...observed.status, conditions };
  const isTold = jsonEqual(withoutHeartbeats(observed.status), withoutHeartbeats(status));
  return isTold ? { lookMs: silenceMs } : { status };
}

/** How long it may still be silent. */
function silenceOf({ observed, renewedAt, nowMs }: ForeignFacts): number {
  const beats = (observed.status?.conditions ?? []).map(({ lastHeartbeatTime }) => lastHeartbeatTime);
  const heard = [renewedAt, ...beats].map((time) => Date.parse(time ?? '')).filter((time) => time > 0);
  if (heard.length > 0) return Math.max(...heard) + silenceMs - nowMs;
  return Date.parse(observed.metadata.creationTimestamp ?? '') + firstReportMs - nowMs;
}

function silentClaims({ observed, ownName }: ForeignFacts) {
  const { name = '' } = observed.metadata;
  const message = `Nobody reports for this node. This host is the node ${ownName}; if it was called ${name} before, or ${name} is gone for good: kubectl delete node ${name}`;
  return ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
    type,
    status: 'Unknown' as const,
    reason: 'NodeStatusUnknown',
    message,
  }));
}
