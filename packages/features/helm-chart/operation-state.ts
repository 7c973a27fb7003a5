import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { Job, Pod } from '@sheaf/api/workload/index';
import { jobHash } from './chart-job.ts';
import { chartLabel } from './chart-names.ts';

/** How an operation stands. */
export type OperationState = 'running' | 'succeeded' | 'failed';

/** A Job that has failed for whatever reason has failed: a deadline or a policy as well as too many tries. */
export function stateOf(job: Job): OperationState {
  if (has(job, 'Failed')) return 'failed';
  return has(job, 'Complete') ? 'succeeded' : 'running';
}

/** Its controller has seen that it is to rest. */
export function isSuspended(job: Job): boolean {
  return job.spec.suspend === true && has(job, 'Suspended');
}

function has({ status }: Job, type: string): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true
  );
}

/** Told by UIDs, not by names or times: an object made again is another one. */
export function isOwnedBy({ metadata }: Job, chart: HelmChart): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === chart.metadata.uid) === true;
}

export function isFor(job: Job, wanted: Job): boolean {
  return jobHash(job) === jobHash(wanted);
}

export function isGoing({ metadata }: Job | Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** A process of it may run, or begin to. */
export function isAlive({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

export function podsOf(pods: readonly Pod[], job: Job): readonly Pod[] {
  return pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid));
}

/** Helm is at work in it now. */
export function isWorking(pod: Pod): boolean {
  const isRunning = pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined);
  return isAlive(pod) && isRunning === true;
}

export function isOfChart({ metadata }: Job | Pod, chart: HelmChart): boolean {
  return metadata.labels?.[chartLabel] === chart.metadata.name;
}
