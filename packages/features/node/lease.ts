import type { KubeObject } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';

export interface NodeLease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
  };
}

export const leaseNamespace = 'kube-node-lease';
export const renewMs = 10_000;
const leaseDurationSeconds = 40;

/** The lease of a node, renewed; `undefined` if it is fresh. */
export function planLease(
  node: NodeObject,
  lease: NodeLease | undefined,
  nowMs: number,
): NodeLease | undefined {
  if (lease && isFresh(node, lease, nowMs)) return undefined;
  const { name = '', uid = '' } = node.metadata;
  return {
    ...lease,
    metadata: {
      ...lease?.metadata,
      namespace: leaseNamespace,
      name,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: {
      ...lease?.spec,
      holderIdentity: name,
      leaseDurationSeconds,
      renewTime: new Date(nowMs).toISOString().replace('Z', '000Z'),
    },
  };
}

/** Of this very node, and not from the future either: the clock of the host may have been set back. */
function isFresh(node: NodeObject, { metadata, spec }: NodeLease, nowMs: number): boolean {
  const isOwn = metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid) === true;
  const ageMs = nowMs - Date.parse(spec?.renewTime ?? '');
  return isOwn && ageMs >= 0 && ageMs < renewMs;
}
