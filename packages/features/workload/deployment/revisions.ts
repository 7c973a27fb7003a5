import type { Deployment, PodTemplateSpec, ReplicaSet } from '@sheaf/api/workload/index';
import { type JsonValue, jsonEqual } from '@sheaf/base';
import { templateHash } from '../pods/template-hash.ts';

const hashLabel = 'pod-template-hash';
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas';

/** They belong to one object; all others are handed on from a deployment to its replica sets. */
const ownAnnotations: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  'deprecated.deployment.rollback.to',
  'deprecated.daemonset.template.generation',
]);

/** The replica sets of a deployment: the one of its template, and those of earlier templates, oldest first. */
export interface Revisions {
  readonly newSet: ReplicaSet | undefined;
  readonly oldSets: readonly ReplicaSet[];
}

export function revisionsOf(deployment: Deployment, sets: readonly ReplicaSet[]): Revisions {
  const byAge = sets.toSorted(
    (a, b) =>
      compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      compare(a.metadata.name ?? '', b.metadata.name ?? ''),
  );
  const newSet = byAge.find((set) => isOfTemplate(set, deployment.spec.template));
  return { newSet, oldSets: byAge.filter((set) => set !== newSet) };
}

export function isOfTemplate({ spec }: ReplicaSet, template: PodTemplateSpec): boolean {
  return jsonEqual(withoutHash(spec.template), withoutHash(template));
}

function withoutHash({ metadata, spec }: PodTemplateSpec): JsonValue {
  const { [hashLabel]: _, ...labels } = metadata?.labels ?? {};
  const { annotations = {} } = metadata ?? {};
  return { labels, annotations, spec: spec as unknown as JsonValue };
}

export function revisionOf({ metadata }: ReplicaSet | Deployment): number {
  return Number.parseInt(metadata.annotations?.[revisionAnnotation] ?? '', 10) || 0;
}

/** The number that the set of the template is to have. */
export function newestRevision({ newSet, oldSets }: Revisions): number {
  const next = Math.max(0, ...oldSets.map(revisionOf)) + 1;
  return newSet ? Math.max(next, revisionOf(newSet)) : next;
}

/** The set that is to be made for the template of a deployment. */
export function newSetOf(
  deployment: Deployment,
  {
    revision,
    replicas,
    maxReplicas,
  }: { readonly revision: number; readonly replicas: number; readonly maxReplicas: number },
): ReplicaSet {
  const { template, minReadySeconds, selector } = deployment.spec;
  const { namespace = '', name = '' } = deployment.metadata;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const shared = sharedAnnotations(deployment);
  return {
    metadata: {
      namespace,
      name: `${name}-${hash}`,
      labels,
      annotations: { ...shared, [revisionAnnotation]: String(revision), ...counts(deployment, maxReplicas) },
    },
    spec: {
      replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** A set as it is to be while it is that of the template; the very same one if it is so already. */
export function currentSet(set: ReplicaSet, deployment: Deployment, revision: number): ReplicaSet {
  const { annotations = {} } = set.metadata;
  const old = annotations[revisionAnnotation];
  const isRenumbered = old !== undefined && old !== '0' && old !== String(revision);
  const history = [annotations[historyAnnotation], old].filter(Boolean).join(',');
  const { minReadySeconds = 0 } = deployment.spec;
  const kept = Object.entries(annotations).filter(
    ([key]) => ownAnnotations.has(key) || key in (deployment.metadata.annotations ?? {}),
  );
  const next: ReplicaSet = {
    ...set,
    metadata: {
      ...set.metadata,
      annotations: {
        ...Object.fromEntries(kept),
        ...sharedAnnotations(deployment),
        [revisionAnnotation]: String(revision),
        ...(isRenumbered && { [historyAnnotation]: history }),
      },
    },
    spec: { ...set.spec, ...((minReadySeconds > 0 || set.spec.minReadySeconds) && { minReadySeconds }) },
  };
  return sameSet(set, next) ? set : next;
}

/** A set with another number of pods, and with what that was reckoned from. */
export function scaledSet(
  set: ReplicaSet,
  deployment: Deployment,
  { replicas, maxReplicas }: { readonly replicas: number; readonly maxReplicas: number },
): ReplicaSet {
  const annotations = { ...set.metadata.annotations, ...counts(deployment, maxReplicas) };
  const next = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } };
  return sameSet(set, next) ? set : next;
}

/** How many pods the deployment wanted when the set was scaled last; `undefined` if it never was. */
export function desiredAtLastScale({ metadata }: ReplicaSet): number | undefined {
  const text = metadata.annotations?.[desiredAnnotation];
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

function counts({ spec }: Deployment, maxReplicas: number): Readonly<Record<string, string>> {
  return { [desiredAnnotation]: String(spec.replicas ?? 1), [maxAnnotation]: String(maxReplicas) };
}

function sharedAnnotations({ metadata }: Deployment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)),
  );
}

function sameSet(a: ReplicaSet, b: ReplicaSet): boolean {
  return jsonEqual(a as unknown as JsonValue, b as unknown as JsonValue);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
