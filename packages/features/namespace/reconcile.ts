import { type KubeObject, timestampOf, toGroupResource } from '@sheaf/api';
import { type Clock, StatusError, toError } from '@sheaf/base';
import {
  type Client,
  type DiscoveryReader,
  preferredResources,
  resources,
  type ServedResource,
} from '@sheaf/client';
import { again, done, type ReconcileResult, waitFor } from '@sheaf/runtime';
import {
  type ContentPass,
  conditionsOf,
  isEmptied,
  isHeldByUs,
  planConditions,
  planNamespace,
  type Remaining,
  withoutFinalizer,
} from './plan.ts';

export interface NamespaceReconcilerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly discovery: DiscoveryReader;
  /** Which resources are emptied; all if absent. */
  readonly isEmptied?: ((resource: ServedResource) => boolean) | undefined;
}

const firstWaitMs = 100;
const longestWaitMs = 8000;
/** Resources looked at in parallel. */
const concurrency = 8;

/** Empties namespaces that are being deleted, says in their conditions what holds them, and lets them go. */
export class NamespaceReconciler {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #isChosen: (resource: ServedResource) => boolean;
  readonly #discovery: DiscoveryReader;
  /** Passes so far over each namespace that waits, by uid: it is looked at often first, then less. */
  readonly #passes = new Map<string, number>();

  constructor({ client, clock, discovery, isEmptied: isChosen }: NamespaceReconcilerOptions) {
    this.#isChosen = isChosen ?? (() => true);
    this.#client = client;
    this.#clock = clock;
    this.#discovery = discovery;
  }

  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const namespace = await this.#client.find(resources.namespaces, { name }, signal);
    if (!namespace) return done;
    const uid = namespace.metadata.uid ?? '';
    switch (planNamespace(namespace)) {
      case 'nothing':
        this.#passes.delete(uid);
        return done;
      case 'mark-terminating':
        await this.#markTerminating(namespace, signal);
        return again(0);
      case 'delete-content':
        return this.#deleteContent(namespace, signal);
    }
  }

  async #markTerminating(namespace: KubeObject, signal: AbortSignal): Promise<void> {
    const status = { ...(namespace['status'] as object | undefined), phase: 'Terminating' };
    await this.#client.updateStatus(resources.namespaces, { ...namespace, status }, { signal });
  }

  async #deleteContent(namespace: KubeObject, signal: AbortSignal): Promise<ReconcileResult> {
    const { name = '', uid = '' } = namespace.metadata;
    const pass = await this.#deleteAll(name, signal);
    if (isEmptied(pass)) {
      this.#passes.delete(uid);
      // Others may hold the namespace still: their users must not read what is not true any more.
      const told = await this.#report(namespace, pass, signal);
      await this.#client.update(resources.namespaces, withoutFinalizer(told), {
        subresource: 'finalize',
        signal,
      });
      return done;
    }
    await this.#report(namespace, pass, signal);
    const passes = this.#passes.get(uid) ?? 0;
    this.#passes.set(uid, passes + 1);
    return waitFor('content remains', Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(passes, 10)));
  }

  async #report(namespace: KubeObject, pass: ContentPass, signal: AbortSignal): Promise<KubeObject> {
    const old = conditionsOf(namespace);
    const conditions = planConditions(old, pass, timestampOf(this.#clock));
    if (conditions === old) return namespace;
    if (old.length === 0 && isEmptied(pass) && isHeldByUs(namespace)) return namespace;
    const status = { ...(namespace['status'] as object | undefined), conditions };
    return this.#client.updateStatus(resources.namespaces, { ...namespace, status }, { signal });
  }

  async #deleteAll(namespace: string, signal: AbortSignal): Promise<ContentPass> {
    const served = await this.#discovery.read(signal);
    const deletable = preferredResources(served, ['delete', 'list']).filter(
      (resource) => resource.namespaced && this.#isChosen(resource),
    );
    const pods = deletable.filter((resource) => resource.group === '' && resource.plural === 'pods');
    const target = { namespace, signal };
    const first = await this.#deleteEach(pods, target);
    // Pods go first: they may still need what else is in the namespace while they end.
    const rest =
      first.remaining.length > 0
        ? { remaining: [], failures: [] }
        : await this.#deleteEach(
            deletable.filter((resource) => !pods.includes(resource)),
            target,
          );
    return {
      undiscovered: served.missing,
      remaining: [...first.remaining, ...rest.remaining],
      failures: [...first.failures, ...rest.failures],
    };
  }

  async #deleteEach(
    served: readonly ServedResource[],
    target: Target,
  ): Promise<Pick<ContentPass, 'remaining' | 'failures'>> {
    const remaining: Remaining[] = [];
    const failures: string[] = [];
    const queue = [...served];
    const work = async (): Promise<void> => {
      for (let resource = queue.shift(); resource; resource = queue.shift()) {
        try {
          const left = await this.#deleteResource(resource, target);
          if (left) remaining.push(left);
        } catch (error) {
          if (target.signal.aborted) throw error;
          failures.push(`${toGroupResource(resource.group, resource.plural)}: ${toError(error).message}`);
        }
      }
    };
    await Promise.all(Array.from({ length: concurrency }, () => work()));
    return { remaining, failures };
  }

  /** What is left of a resource after everything of it has been told to go. */
  async #deleteResource(resource: ServedResource, target: Target): Promise<Remaining | undefined> {
    const present = await this.#list(resource, target);
    if (present.length === 0) return undefined;
    await this.#deletePresent(resource, present, target);
    const left = await this.#list(resource, target);
    if (left.length === 0) return undefined;
    const finalizers = new Map<string, number>();
    for (const { metadata } of left)
      for (const finalizer of metadata.finalizers ?? [])
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    return { group: resource.group, plural: resource.plural, count: left.length, finalizers };
  }

  async #deletePresent(
    resource: ServedResource,
    present: readonly KubeObject[],
    target: Target,
  ): Promise<void> {
    const background = { propagationPolicy: 'Background' } as const;
    if (resource.verbs.includes('deletecollection')) {
      await this.#client.deleteCollection(resource, target, { ...background, signal: target.signal });
      return;
    }
    for (const { metadata } of present) {
      const ref = { namespace: target.namespace, name: metadata.name ?? '' };
      await this.#client
        .delete(resource, ref, { ...background, signal: target.signal })
        .catch(ignoreNotFound);
    }
  }

  /** A resource that is not served (any more) is a failure: the next pass reads anew what is served. */
  async #list(resource: ServedResource, target: Target): Promise<readonly KubeObject[]> {
    return (await this.#client.list(resource, { ...target, metadataOnly: true })).items;
  }
}

interface Target {
  readonly namespace: string;
  readonly signal: AbortSignal;
}

function ignoreNotFound(error: unknown): void {
  if (!StatusError.is(error, 'NotFound')) throw error;
}
