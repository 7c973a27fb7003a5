import { type KubeObject, timestampOf } from '@sheaf/api';
import { type Clock, toError } from '@sheaf/base';
import { type Client, type ResourceRef, refOf, resources } from '@sheaf/client';
import { done, type ReconcileResult, waitFor } from '@sheaf/runtime';
import {
  allRemoved,
  cleanupFinalizer,
  deletionFailed,
  inProgress,
  isTerminating,
  planDefinition,
  withTerminating,
} from './plan.ts';

export interface DefinitionReconcilerOptions {
  readonly client: Client;
  readonly clock: Clock;
}

const firstWaitMs = 100;
const longestWaitMs = 5000;

/** Deletes the instances of definitions that are being deleted, then lets the definitions go. */
export class DefinitionReconciler {
  readonly #client: Client;
  readonly #clock: Clock;
  /** Passes so far, by uid: what waits is looked at often first, then less. */
  readonly #passes = new Map<string, number>();

  constructor({ client, clock }: DefinitionReconcilerOptions) {
    this.#client = client;
    this.#clock = clock;
  }

  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const crd = await this.#client.find(resources.customResourceDefinitions, { name }, signal);
    if (!crd) return done;
    const step = planDefinition(crd);
    switch (step.action) {
      case 'none':
        return done;
      case 'release':
        await this.#release(crd, step.condition, signal);
        return done;
      case 'blocked':
        await this.#tell(crd, step.condition, signal);
        return waitFor('no version is served', longestWaitMs);
      case 'delete-instances':
        return this.#deleteInstances(crd, step.resource, signal);
    }
  }

  async #deleteInstances(
    crd: KubeObject,
    resource: ResourceRef,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    // Only at the beginning: to say less than the pass before would be a write, and each write is a reason for a pass.
    const told = isTerminating(crd) ? crd : await this.#tell(crd, inProgress([]), signal);
    try {
      const remaining = await this.#deleteAll(resource, signal);
      if (remaining.length > 0) {
        await this.#tell(told, inProgress(remaining), signal);
        return waitFor('instances remain', this.#nextWaitMs(crd));
      }
    } catch (error) {
      if (!signal.aborted) await this.#tell(told, deletionFailed(toError(error).message), signal);
      throw error;
    }
    this.#passes.delete(crd.metadata.uid ?? '');
    await this.#release(told, allRemoved, signal);
    return done;
  }

  /** What is left after everything has been told to go. */
  async #deleteAll(resource: ResourceRef, signal: AbortSignal): Promise<readonly KubeObject[]> {
    const all = { metadataOnly: true, limit: 500, signal };
    const { items } = await this.#client.list(resource, all);
    const due = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const namespace of new Set(due.map(({ metadata }) => metadata.namespace ?? '')))
      await this.#client.deleteCollection(resource, namespace === '' ? {} : { namespace }, { signal });
    return items.length === 0 ? items : (await this.#client.list(resource, all)).items;
  }

  async #tell(
    crd: KubeObject,
    condition: Parameters<typeof withTerminating>[1],
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const next = withTerminating(crd, condition, timestampOf(this.#clock));
    if (next === crd) return crd;
    return this.#client.updateStatus(resources.customResourceDefinitions, next, { signal });
  }

  async #release(
    crd: KubeObject,
    condition: Parameters<typeof withTerminating>[1],
    signal: AbortSignal,
  ): Promise<void> {
    const finalizers = (crd.metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer);
    // Others hold it still: its users are told that the instances are gone.
    const told = finalizers.length > 0 ? await this.#tell(crd, condition, signal) : crd;
    const { uid = '', resourceVersion = '' } = told.metadata;
    const body = { metadata: { uid, resourceVersion, finalizers } };
    await this.#client.patch(resources.customResourceDefinitions, refOf(crd), {
      type: 'merge',
      body,
      signal,
    });
  }

  #nextWaitMs({ metadata: { uid = '' } }: KubeObject): number {
    const passes = this.#passes.get(uid) ?? 0;
    this.#passes.set(uid, passes + 1);
    return Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(passes, 10));
  }
}
