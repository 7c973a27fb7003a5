import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from '@sheaf/api/workload/index';
import { revisionHashLabel } from '../pods/controller-revision.ts';
import { isReady } from '../pods/pod-state.ts';

const nameLabel = 'statefulset.kubernetes.io/pod-name';
const indexLabel = 'apps.kubernetes.io/pod-index';

export function firstOrdinal({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

export function replicasOf({ spec }: StatefulSet): number {
  return spec.replicas ?? 1;
}

/** From its name; `undefined` if that is none of the set's. */
export function ordinalOf({ metadata: { name = '' } }: Pod, set: StatefulSet): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(0|[1-9]\d*)$/.test(digits) ? Number(digits) : undefined;
}

export function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

export function revisionNameOf({ metadata }: Pod): string {
  return metadata.labels?.[revisionHashLabel] ?? '';
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod);
}

/** A template as it is for one ordinal: name, labels and volumes of its own. */
export function ordinalTemplate(
  set: StatefulSet,
  {
    template,
    revision,
    ordinal,
  }: { readonly template: PodTemplateSpec; readonly revision: string; readonly ordinal: number },
): PodTemplateSpec {
  const name = podName(set, ordinal);
  const { metadata, spec } = template;
  const claims = (set.spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, claim, ordinal) },
  }));
  const others = (spec.volumes ?? []).filter((volume) => !claims.some((claim) => claim.name === volume.name));
  return {
    metadata: {
      ...metadata,
      labels: {
        ...metadata?.labels,
        [revisionHashLabel]: revision,
        [nameLabel]: name,
        [indexLabel]: String(ordinal),
      },
    },
    spec: {
      ...spec,
      hostname: name,
      ...(set.spec.serviceName && { subdomain: set.spec.serviceName }),
      ...(claims.length + others.length > 0 && { volumes: [...claims, ...others] }),
    },
  };
}

/** The claims of one ordinal. */
export function claimsFor(set: StatefulSet, ordinal: number): readonly PersistentVolumeClaim[] {
  return (set.spec.volumeClaimTemplates ?? []).map((claim) => ({
    metadata: {
      namespace: set.metadata.namespace ?? '',
      name: claimName(set, claim, ordinal),
      labels: { ...claim.metadata.labels, ...set.spec.selector.matchLabels },
      annotations: { ...claim.metadata.annotations },
    },
    spec: claim.spec,
  }));
}

function claimName({ metadata }: StatefulSet, claim: PersistentVolumeClaim, ordinal: number): string {
  return `${claim.metadata.name}-${metadata.name}-${ordinal}`;
}
