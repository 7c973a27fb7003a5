import type { Pod, PodTemplateSpec } from '@sheaf/api/workload/index';
import { type Clock, StatusError, toError } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import type { EventRecorder, Informer } from '@sheaf/runtime';
import { OwnedObjects, type Owner, referenceTo } from './owned-objects.ts';
import { type PodName, podOfTemplate } from './pod-of-template.ts';

export interface OwnedPodsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly pods: Informer<Pod>;
  /** How events tell of pods; as most controllers do, if absent. */
  readonly wording?: PodWording;
  /** What they carry until their owner has done with them. */
  readonly finalizer?: string;
}

/** `problem`: why it could not be done. */
export type PodWording = (
  deed: 'create' | 'delete',
  names: { readonly pod: string; readonly owner: string },
  problem?: string,
) => string;

function usualWording(
  deed: 'create' | 'delete',
  { pod }: { readonly pod: string },
  problem?: string,
): string {
  if (problem !== undefined) return `Error ${deed === 'create' ? 'creating' : 'deleting'}: ${problem}`;
  return `${deed === 'create' ? 'Created' : 'Deleted'} pod: ${pod}`;
}

export interface PodOrder {
  readonly template: PodTemplateSpec;
  readonly place: PodName;
}

/** Pods as the controllers that own them read and write them; their events tell users. */
export class OwnedPods {
  readonly #recorder: EventRecorder;
  readonly #wording: PodWording;
  readonly #pods: OwnedObjects<Pod>;

  constructor({ recorder, pods, wording = usualWording, ...options }: OwnedPodsOptions) {
    this.#recorder = recorder;
    this.#wording = wording;
    this.#pods = new OwnedObjects({ ...options, informer: pods });
  }

  get doubtInMs(): number | undefined {
    return this.#pods.doubtInMs;
  }

  list(namespace: string, signal: AbortSignal): Promise<Pod[]> {
    return this.#pods.list(namespace, signal);
  }

  adopt(owner: Owner, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    return this.#pods.adopt(owner, pods, signal);
  }

  release(owner: Owner, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    return this.#pods.release(owner, pods, signal);
  }

  /** One that is gone is left alone. @throws StatusError Conflict if it has been changed since it was read */
  async updateIfThere(pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.#pods.update(pod, signal);
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }

  /**
   * Makes them, a few at first and then more at once, so that what refuses all of them is asked seldom.
   * @throws Error the first failure; then the rest has not been tried
   */
  async createMany(owner: Owner, orders: readonly PodOrder[], signal: AbortSignal): Promise<void> {
    let size = 1;
    for (let begin = 0; begin < orders.length; begin += size, size *= 2) {
      const batch = orders.slice(begin, begin + size);
      throwFirst(await Promise.allSettled(batch.map((order) => this.#create(owner, order, signal))));
    }
  }

  /** @throws Error the first failure, after all have been tried */
  async deleteMany(owner: Owner, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    throwFirst(await Promise.allSettled(pods.map((pod) => this.#delete(owner, pod, signal))));
  }

  async #create(owner: Owner, { template, place }: PodOrder, signal: AbortSignal): Promise<void> {
    try {
      const made = await this.#pods.create(podOfTemplate(template, place, referenceTo(owner)), signal);
      this.#tell(owner, 'create', { pod: made.metadata.name });
    } catch (error) {
      // That the namespace goes everybody can see.
      if (!isNamespaceGoing(error))
        this.#tell(owner, 'create', { pod: place.name, problem: toError(error).message });
      throw error;
    }
  }

  async #delete(owner: Owner, pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      const isDone = await this.#pods.delete(pod, signal);
      if (isDone) this.#tell(owner, 'delete', { pod: pod.metadata.name });
    } catch (error) {
      this.#tell(owner, 'delete', { pod: pod.metadata.name, problem: toError(error).message });
      throw error;
    }
  }

  #tell(
    { object, resource }: Owner,
    deed: 'create' | 'delete',
    { pod = '', problem }: { readonly pod: string | undefined; readonly problem?: string },
  ): void {
    const { namespace = '', name = '', uid = '' } = object.metadata;
    const isGood = problem === undefined;
    this.#recorder.record({
      about: { resource, namespace, name, uid },
      type: isGood ? 'Normal' : 'Warning',
      reason: `${isGood ? 'Successful' : 'Failed'}${deed === 'create' ? 'Create' : 'Delete'}`,
      message: this.#wording(deed, { pod, owner: name }, problem),
    });
  }
}

function throwFirst(results: readonly PromiseSettledResult<void>[]): void {
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

function isNamespaceGoing(error: unknown): boolean {
  return (
    StatusError.is(error) &&
    error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
  );
}
