import type { KubeObject } from '@sheaf/api';
import type {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Pod,
  ReplicaSet,
  StatefulSet,
} from '@sheaf/api/workload/index';
import { type ResourceRef, resources } from '@sheaf/client';
import type { Objects } from '../objects.ts';

type Tracked = Deployment | ReplicaSet | StatefulSet | DaemonSet | Job | CronJob;

const kinds = [
  resources.deployments,
  resources.replicaSets,
  resources.statefulSets,
  resources.daemonSets,
  resources.jobs,
  resources.cronJobs,
] as const;

/** What users have asked for, one after the other: a controller may still go by what it was told last, and by nothing older. */
export class History {
  readonly #objects: Objects;
  readonly #seen = new Map<ResourceRef, readonly KubeObject[]>();
  readonly #byUid = new Map<string, Tracked[]>();
  /** Pods that have been ready. */
  readonly everReady = new Set<string>();
  /** By job: pods, and whether they were wanted then. */
  readonly #succeeded = new Map<string, Map<string, boolean>>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  look(): void {
    for (const resource of kinds)
      for (const object of this.#changed<KubeObject>(resource)) this.#note(object as Tracked);
    for (const pod of this.#changed(resources.pods)) {
      const { uid = '' } = pod.metadata;
      if (saysReady(pod)) this.everReady.add(uid);
      if (pod.status?.phase === 'Succeeded') this.#noteSuccess(pod);
    }
  }

  /** Versions of what users want, from the one that its controller has told of to have seen. */
  versionsOf<T extends Tracked>({ metadata, status }: T): readonly T[] {
    const all = (this.#byUid.get(metadata.uid ?? '') ?? []) as T[];
    const seen = (status as { readonly observedGeneration?: number } | undefined)?.observedGeneration ?? 0;
    return all.filter(({ metadata: { generation = 0 } }) => generation >= seen);
  }

  /** How many pods of a job have done their work: while nobody wanted them gone, and in all. */
  successesOf({ metadata }: Job): { readonly wanted: number; readonly all: number } {
    const pods = [...(this.#succeeded.get(metadata.uid ?? '')?.values() ?? [])];
    return { wanted: pods.filter((isWanted) => isWanted).length, all: pods.length };
  }

  /** All of a kind, or nothing if they have been looked at as they are. */
  #changed<T extends KubeObject>(resource: ResourceRef<T>): readonly T[] {
    const all = this.#objects.all(resource);
    if (this.#seen.get(resource) === all) return [];
    this.#seen.set(resource, all);
    return all;
  }

  #noteSuccess({ metadata }: Pod): void {
    const { uid = '', ownerReferences = [], finalizers = [], deletionTimestamp } = metadata;
    const job = ownerReferences.find(({ kind }) => kind === 'Job');
    if (!job) return;
    const pods = this.#succeeded.get(job.uid) ?? new Map<string, boolean>();
    this.#succeeded.set(job.uid, pods);
    if (!pods.has(uid)) pods.set(uid, deletionTimestamp === undefined && finalizers.length > 0);
  }

  #note(object: Tracked): void {
    const { uid = '', generation } = object.metadata;
    const all = this.#byUid.get(uid) ?? [];
    if (all.at(-1)?.metadata.generation === generation) return;
    this.#byUid.set(uid, [...all, object]);
  }
}

function saysReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}
