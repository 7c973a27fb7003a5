import type { Deployment, Job, Pod, ReplicaSet, StatefulSet } from '@sheaf/api/workload/index';
import { type ClientRequest, resources } from '@sheaf/client';
import { isDeleting, type Objects } from '../objects.ts';
import type { History } from './history.ts';
import { hasEnded, indexOf, isActive, isOwnedBy, nodeOf, ordinalOf } from './pod-facts.ts';

export interface WriteSafetyOptions {
  readonly objects: Objects;
  readonly history: History;
  /** Whether each request of this run is carried out once, and its sender hears of it: then numbers can be held. */
  readonly isExact: () => boolean;
  readonly find: (text: string) => void;
}

/** As it was before a request. */
interface Before {
  readonly podUids: ReadonlySet<string>;
  /** What replica sets asked for, by UID. */
  readonly replicas: ReadonlyMap<string, number>;
}

type Check = (safety: WriteSafety, before: Before) => void;

const madePod = /^\/api\/v1\/namespaces\/[^/]+\/pods$/;
const madeJob = /^\/apis\/batch\/v1\/namespaces\/[^/]+\/jobs$/;
const anySet = /^\/apis\/apps\/v1\/namespaces\/[^/]+\/replicasets(\/[^/]+)?$/;

/** What controllers may write: looked at as each of their requests is carried out. */
export class WriteSafety {
  readonly #options: WriteSafetyOptions;

  constructor(options: WriteSafetyOptions) {
    this.#options = options;
  }

  watch({ method, target }: ClientRequest): ((status: number) => void) | undefined {
    const check = checkFor(method, target.split('?')[0] ?? '');
    if (!check) return undefined;
    const before = {
      podUids: new Set(this.#pods().map(({ metadata }) => metadata.uid ?? '')),
      replicas: new Map(
        this.#sets().map(({ metadata, spec }) => [metadata.uid ?? '', spec.replicas ?? 1] as const),
      ),
    };
    return (status) => {
      if (status < 300) check(this, before);
    };
  }

  /** A pod was made: its owner may have it, and it may be made now. */
  lookAtNewPods({ podUids }: Before): void {
    for (const pod of this.#pods().filter(({ metadata }) => !podUids.has(metadata.uid ?? ''))) {
      const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
      const uid = owner?.uid ?? '';
      const set = this.#options.objects.get(resources.replicaSets, uid);
      const statefulSet = this.#options.objects.get(resources.statefulSets, uid);
      const job = this.#options.objects.get(resources.jobs, uid);
      if (set) this.#lookAtCount(set);
      if (statefulSet) this.#lookAtOrder(statefulSet, pod);
      if (job) this.#lookAtJob(job, pod);
      if (owner?.kind === 'DaemonSet') this.#lookAtDaemons(pod);
    }
  }

  /** The replica sets of a deployment ask for no more pods than it allows; nor for new ones beside old ones that are to go first. */
  lookAtDeployments(before: Before): void {
    if (!this.#options.isExact()) return;
    for (const deployment of this.#options.objects.all(resources.deployments)) {
      const sets = this.#sets().filter((set) => isOwnedBy(set, deployment));
      this.#lookAtRecreation(deployment, sets, before);
      const asked = sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
      const versions = this.#options.history.versionsOf(deployment);
      const allowed = Math.max(...versions.map(mostOf));
      if (asked > allowed && !this.#wasMore(deployment, asked))
        this.#find(`the replica sets of ${deployment.metadata.name} ask for ${asked} pods of ${allowed}`);
      this.#asked.set(deployment.metadata.uid ?? '', asked);
    }
  }

  /** A CronJob that forbids it has no two jobs at work. */
  lookAtJobs(): void {
    for (const cronJob of this.#options.objects.all(resources.cronJobs)) {
      const versions = this.#options.history.versionsOf(cronJob);
      const jobs = this.#options.objects.all(resources.jobs).filter((job) => isOwnedBy(job, cronJob));
      const turns = jobs.map(
        ({ metadata }) => metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'],
      );
      if (new Set(turns).size < turns.length)
        this.#find(`two jobs of ${cronJob.metadata.name} have one turn`);
      const isForbidden = versions.every(({ spec }) => spec.concurrencyPolicy === 'Forbid');
      const open = jobs.filter((job) => !isFinished(job));
      if (isForbidden && open.length > 1 && this.#options.isExact())
        this.#find(`${cronJob.metadata.name} forbids it and has ${open.length} jobs at work`);
    }
  }

  #lookAtRecreation(deployment: Deployment, sets: readonly ReplicaSet[], { replicas }: Before): void {
    const versions = this.#options.history.versionsOf(deployment);
    if (!versions.every(({ spec }) => spec.strategy?.type === 'Recreate')) return;
    const templates = new Set(versions.map(({ spec }) => JSON.stringify(spec.template)));
    const grown = sets.filter(
      ({ metadata, spec }) => (spec.replicas ?? 1) > (replicas.get(metadata.uid ?? '') ?? 0),
    );
    const others = this.#pods().filter(
      (pod) => !hasEnded(pod) && sets.some((set) => !grown.includes(set) && isOwnedBy(pod, set)),
    );
    if (grown.length > 0 && others.length > 0 && templates.size === 1)
      this.#find(
        `${deployment.metadata.name} is recreated, and ${grown[0]?.metadata.name} grows beside ${others[0]?.metadata.name}`,
      );
  }

  #sets(): readonly ReplicaSet[] {
    return this.#options.objects.all(resources.replicaSets);
  }

  readonly #asked = new Map<string, number>();

  /** It was as many before: users have made it less, and nobody has made it more. */
  #wasMore({ metadata }: Deployment, asked: number): boolean {
    return (this.#asked.get(metadata.uid ?? '') ?? 0) >= asked;
  }

  #lookAtCount(set: ReplicaSet): void {
    if (!this.#options.isExact()) return;
    const { app } = set.spec.selector.matchLabels ?? {};
    const active = this.#pods().filter(
      (pod) => isOwnedBy(pod, set) && isActive(pod) && pod.metadata.labels?.['app'] === app,
    ).length;
    const allowed = Math.max(...this.#options.history.versionsOf(set).map(({ spec }) => spec.replicas ?? 1));
    if (active > allowed) this.#find(`${set.metadata.name} has made ${active} pods of ${allowed}`);
  }

  /** One after the other: each one below has been ready. */
  #lookAtOrder(set: StatefulSet, pod: Pod): void {
    if (set.spec.podManagementPolicy === 'Parallel') return;
    const first = set.spec.ordinals?.start ?? 0;
    for (let ordinal = first; ordinal < ordinalOf(pod); ordinal++) {
      const uid = this.#newest.get(`${set.metadata.uid} ${ordinal}`);
      if (uid === undefined || !this.#options.history.everReady.has(uid))
        this.#find(`${pod.metadata.name} was made before ${set.metadata.name}-${ordinal} was ready`);
    }
    this.notePods();
  }

  /** The newest pod of each place. */
  readonly #newest = new Map<string, string>();

  notePods(): void {
    for (const pod of this.#pods()) {
      const owner = pod.metadata.ownerReferences?.find(({ kind }) => kind === 'StatefulSet');
      if (owner) this.#newest.set(`${owner.uid} ${ordinalOf(pod)}`, pod.metadata.uid ?? '');
    }
  }

  #lookAtJob(job: Job, made: Pod): void {
    if (!this.#options.isExact()) return;
    const pods = this.#pods().filter((pod) => isOwnedBy(pod, job));
    const waitsForEnds = job.spec.podReplacementPolicy === 'Failed';
    const taken = pods.filter((pod) => (waitsForEnds ? !hasEnded(pod) : isActive(pod)));
    const versions = this.#options.history.versionsOf(job);
    const allowed = Math.max(...versions.map(({ spec }) => spec.parallelism ?? 1));
    if (taken.length > allowed)
      this.#find(`${job.metadata.name} has ${taken.length} pods at once of ${allowed}`);
    const index = indexOf(made);
    if (index === undefined) return;
    const others = pods.filter((pod) => indexOf(pod) === index && pod !== made);
    if (others.some(isActive)) this.#find(`index ${index} of ${job.metadata.name} has two pods at once`);
    if (hasIndex(job.status?.completedIndexes, Number(index)) || others.some(hasCountingSuccess))
      this.#find(`index ${index} of ${job.metadata.name} is done and has another pod`);
  }

  #lookAtDaemons(made: Pod): void {
    if (!this.#options.isExact()) return;
    const owner = made.metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
    const set = this.#options.objects.get(resources.daemonSets, owner);
    if (!set) return;
    const here = this.#pods().filter((pod) => isOwnedBy(pod, set) && nodeOf(pod) === nodeOf(made));
    const surges = this.#options.history
      .versionsOf(set)
      .some(({ spec }) => (spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0) !== 0);
    const limit = surges ? 2 : 1;
    if (here.length > limit)
      this.#find(`${set.metadata.name} has ${here.length} pods on node ${nodeOf(made)}`);
  }

  #pods(): readonly Pod[] {
    return this.#options.objects.all(resources.pods);
  }

  #find(text: string): void {
    this.#options.find(text);
  }
}

function checkFor(method: string, path: string): Check | undefined {
  if (method === 'POST' && madePod.test(path)) return (safety, before) => safety.lookAtNewPods(before);
  if (method === 'POST' && madeJob.test(path)) return (safety) => safety.lookAtJobs();
  if ((method === 'POST' || method === 'PUT') && anySet.test(path))
    return (safety, before) => safety.lookAtDeployments(before);
  return undefined;
}

/** As many pods as a version of a deployment allows at most. */
function mostOf({ spec }: Deployment): number {
  const { replicas = 1, strategy } = spec;
  if (strategy?.type === 'Recreate' || replicas === 0) return replicas;
  const { maxSurge = '25%' } = strategy?.rollingUpdate ?? {};
  const share = typeof maxSurge === 'number' ? maxSurge : (Number.parseInt(maxSurge, 10) * replicas) / 100;
  return replicas + Math.ceil(share);
}

export function isFinished({ status }: Job): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
    ) === true
  );
}

const trackingFinalizer = 'batch.kubernetes.io/job-tracking';

/** One that its job has let go of, to end it, is not asked any more what came of it. */
function hasCountingSuccess(pod: Pod): boolean {
  const isTracked = pod.metadata.finalizers?.includes(trackingFinalizer) === true;
  return pod.status?.phase === 'Succeeded' && isTracked && !isDeleting(pod);
}

/** `0,2-4`. */
function hasIndex(indexes: string | undefined, index: number): boolean {
  return (indexes ?? '')
    .split(',')
    .filter((part) => part !== '')
    .some((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return first <= index && index <= last;
    });
}
