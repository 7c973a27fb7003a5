import type { Job, Pod, PodTemplateSpec } from '@sheaf/api/workload/index';
import { isReady } from '../pods/pod-state.ts';

/** On a pod until its end has been counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexKey = 'batch.kubernetes.io/job-completion-index';
const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

/** `undefined` for a pod that was not made for an index. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[indexKey] ?? metadata.labels?.[indexKey] ?? '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** How often pods of its index have failed before it. */
export function earlierFailures({ metadata }: Pod): number {
  return Number(metadata.annotations?.[failureCountKey]) || 0;
}

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) === true;
}

export function hasSucceeded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded';
}

/** One that is being deleted has failed, unless a replacement is to wait for its end. */
export function hasFailed({ metadata, status }: Pod, { spec }: Job): boolean {
  if (status?.phase === 'Failed') return true;
  if (spec.podReplacementPolicy === 'Failed') return false;
  return metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded';
}

/** Milliseconds since 1970: when its last container ended. */
export function finishedAt({ metadata, status }: Pod): number {
  const ends = (status?.containerStatuses ?? [])
    .map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''))
    .filter((time) => !Number.isNaN(time));
  const fallback = metadata.deletionTimestamp ?? metadata.creationTimestamp ?? '';
  return ends.length > 0 ? Math.max(...ends) : Date.parse(fallback);
}

/** How often the containers of a pod that restarts them have been restarted. */
export function restartSum({ status }: Pod): number {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Those that are furthest from an end first: they are given up most easily. */
export function removalOrder(pods: readonly Pod[]): readonly Pod[] {
  const rank = (pod: Pod): number => (isReady(pod) ? 2 : Number(pod.status?.phase === 'Running'));
  return pods.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? '') ||
      (a.metadata.name ?? '').localeCompare(b.metadata.name ?? ''),
  );
}

export interface JobPodOrder {
  readonly template: PodTemplateSpec;
  readonly place: { readonly namespace: string; readonly generateName: string };
}

export function podOrder({ metadata, spec }: Job): JobPodOrder {
  const { namespace = '', name = '' } = metadata;
  return { template: tracked(spec.template), place: { namespace, generateName: `${name}-` } };
}

/** A pod that knows its index: by name, host name, label and environment. */
export function indexedPodOrder(
  job: Job,
  { index, failures }: { readonly index: number; readonly failures: number },
): JobPodOrder {
  const { namespace = '', name = '' } = job.metadata;
  const template = tracked(job.spec.template);
  const { spec, metadata } = template;
  const counted = job.spec.backoffLimitPerIndex === undefined ? {} : { [failureCountKey]: String(failures) };
  return {
    place: { namespace, generateName: `${name}-${index}-` },
    template: {
      ...template,
      metadata: {
        ...metadata,
        labels: { ...metadata?.labels, [indexKey]: String(index) },
        annotations: { ...metadata?.annotations, [indexKey]: String(index), ...counted },
      },
      spec: {
        ...spec,
        hostname: `${name}-${index}`,
        containers: spec.containers.map(withIndex),
        ...(spec.initContainers && { initContainers: spec.initContainers.map(withIndex) }),
      },
    },
  };
}

type Container = PodTemplateSpec['spec']['containers'][number];

function withIndex(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === 'JOB_COMPLETION_INDEX')) return container;
  const fieldPath = `metadata.labels['${indexKey}']`;
  return {
    ...container,
    env: [...env, { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } }],
  };
}

function tracked(template: PodTemplateSpec): PodTemplateSpec {
  const { metadata } = template;
  return {
    ...template,
    metadata: { ...metadata, finalizers: [...(metadata?.finalizers ?? []), trackingFinalizer] },
  };
}
