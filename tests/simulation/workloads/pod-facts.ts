import type { KubeObject } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';

export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** It runs or will. */
export function isActive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !hasEnded(pod);
}

export function isReady({ metadata, status }: Pod): boolean {
  const isTrue = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return metadata.deletionTimestamp === undefined && isTrue === true;
}

export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return (
    metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === owner.metadata.uid) === true
  );
}

/** The place of a pod of a stateful set. */
export function ordinalOf({ metadata: { name = '' } }: KubeObject): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

/** Where a daemon is, or is to be. */
export function nodeOf({ spec }: Pod): string | undefined {
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
  return spec.nodeName ?? fields.find(({ key }) => key === 'metadata.name')?.values?.[0];
}

export function indexOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
}
