import { timestampOf } from '@sheaf/api';
import type { Job, JobCondition } from '@sheaf/api/workload/index';
import { type Clock, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import {
  again,
  done,
  type EventRecorder,
  type ObjectCache,
  parseKey,
  type ReconcileResult,
  type WrittenObjects,
} from '@sheaf/runtime';
import type { Owner } from '../pods/owned-objects.ts';
import type { OwnedPods } from '../pods/owned-pods.ts';
import { takePodStep } from '../pods/pod-step.ts';
import { recheck } from '../pods/recheck.ts';
import { isTracked } from './job-pod.ts';
import { free } from './orphan-pods.ts';
import { type JobFacts, type JobStep, planJob, recheckInMs } from './plan.ts';
import { changesOf, planJobStatus } from './status.ts';

export interface JobParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly jobs: ObjectCache<Job>;
  /** With the statuses that this controller has written and the watch has not told yet: an end that was noted stays noted. */
  readonly written: WrittenObjects<Job>;
  readonly pods: OwnedPods;
}

/** One pass over a job: one step, then its status. */
export async function reconcileJob(
  parts: JobParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (!parts.jobs.get(key)) return done;
  const { namespace, name } = parseKey(key);
  const job = (await parts.written.list(namespace, signal)).find(({ metadata }) => metadata.name === name);
  if (!job) return done;
  const step = planJob(await readFacts(parts, job, signal));
  const problem = await takeStep(parts, { job, step }, signal).then(() => undefined, toError);
  if (step.action === 'expire') return done;
  const facts = await readFacts(parts, job, signal);
  const next = planJobStatus(facts, timestampOf(parts.clock));
  if (next) await writeStatus(parts, { job, next }, signal);
  if (problem) throw problem;
  // The watch tells of what was written, and wakes it.
  const doubts = [parts.pods.doubtInMs, parts.written.doubtInMs];
  if (next) return recheck(...doubts);
  return step.action === 'none' ? recheck(recheckInMs(facts), ...doubts) : again(0);
}

async function readFacts({ pods, clock }: JobParts, job: Job, signal: AbortSignal): Promise<JobFacts> {
  return { job, pods: await pods.list(job.metadata.namespace ?? '', signal), nowMs: clock.now() };
}

async function takeStep(
  { client, pods }: JobParts,
  { job, step }: { readonly job: Job; readonly step: JobStep },
  signal: AbortSignal,
): Promise<void> {
  const owner: Owner = { object: job, resource: resources.jobs };
  switch (step.action) {
    case 'free':
      return free(pods, step.pods, signal);
    case 'drop':
      await free(pods, step.pods.filter(isTracked), signal);
      return pods.deleteMany(owner, step.pods, signal);
    case 'expire':
      return expire(client, job, signal);
    case 'none':
    case 'adopt':
    case 'release':
    case 'create':
    case 'delete':
      return takePodStep(pods, { owner, step }, signal);
  }
}

async function expire(client: Client, { metadata }: Job, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '', uid = '' } = metadata;
  await client.delete(resources.jobs, { namespace, name }, { uid, propagationPolicy: 'Foreground', signal });
}

async function writeStatus(
  { client, recorder, written }: JobParts,
  { job, next }: { readonly job: Job; readonly next: Job },
  signal: AbortSignal,
): Promise<void> {
  written.note(await client.updateStatus(resources.jobs, next, { signal }));
  const { namespace = '', name = '', uid = '' } = job.metadata;
  const about = { resource: resources.jobs, namespace, name, uid };
  for (const condition of changesOf(job, next)) {
    const event = eventOf(condition);
    if (event) recorder.record({ about, ...event });
  }
}

function eventOf({
  type,
  status,
  reason = '',
  message = '',
}: JobCondition):
  | { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }
  | undefined {
  if (type === 'Complete') return { type: 'Normal', reason: 'Completed', message: 'Job completed' };
  if (type === 'Failed') return { type: 'Warning', reason, message };
  if (type !== 'Suspended') return undefined;
  return status === 'True'
    ? { type: 'Normal', reason: 'Suspended', message: 'Job suspended' }
    : { type: 'Normal', reason: 'Resumed', message: 'Job resumed' };
}
