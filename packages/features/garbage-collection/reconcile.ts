import type { KubeObject, OwnerReference } from '@sheaf/api';
import { type JsonValue, StatusError } from '@sheaf/base';
import type { Client, DeleteQuery, ObjectRef } from '@sheaf/client';
import { again, done, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { releaseDependents } from './orphan.ts';
import {
  foregroundFinalizer,
  type GraphNode,
  isForeground,
  isOrphaning,
  type OwnerGraph,
  orphanFinalizer,
} from './owner-graph.ts';
import type { OwnerJudge, PlantedFaults } from './owner-judge.ts';
import { type CollectionStep, planCollection } from './plan.ts';

export interface CollectorOptions {
  readonly client: Client;
  readonly graph: OwnerGraph;
  readonly judge: OwnerJudge;
  /** All resources that are collected, as the server serves them now. */
  readonly collected: (signal: AbortSignal) => Promise<readonly GraphNode['resource'][]>;
  readonly planted: PlantedFaults;
}

/** An owner that is there but has not been told of yet is normally told of at once. */
const unobservedMs = 5000;
/** A kind that is not served may come back; new kinds wake who waits sooner. */
const unknownKindMs = 5 * 60_000;

/** Looks at one object at a time: deletes it when all its owners are gone, and does what its own deletion waits for. */
export class Collector {
  readonly #options: CollectorOptions;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  async reconcile(uid: string, signal: AbortSignal): Promise<ReconcileResult> {
    const node = this.#options.graph.get(uid);
    if (!node) return done;
    try {
      if (isOrphaning(node)) return await this.#orphan(node, signal);
      if (isForeground(node)) return await this.#finishForeground(node, signal);
      return node.isDeleting ? done : await this.#collect(node, signal);
    } catch (error) {
      // It is gone; its informer will say so.
      if (StatusError.is(error, 'NotFound') && error.details?.name === node.name) return done;
      // A kind that is not served any more is none of its ends.
      throw error;
    }
  }

  async #collect(node: GraphNode, signal: AbortSignal): Promise<ReconcileResult> {
    const { graph, judge } = this.#options;
    const { owners, isUnobserved } = await judge.judge(node, signal);
    const step = planCollection({
      node,
      owners,
      hasDependents: graph.hasDependents(node.uid),
      isInRing: graph.hasForegroundDependent(node.uid),
    });
    await this.#act(node, step, signal);
    if (step.action === 'wait') return waitFor('an owner of a kind that is not served', unknownKindMs);
    return isUnobserved ? again(unobservedMs) : done;
  }

  async #act(node: GraphNode, step: CollectionStep, signal: AbortSignal): Promise<void> {
    if (step.action === 'drop-references') await this.#setOwners(node, step.owners, signal);
    if (step.action !== 'delete') return;
    let seen = node.resourceVersion;
    if (step.unblockFirst) {
      const unblocked = node.owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
      seen = (await this.#setOwners(node, unblocked, signal)).metadata.resourceVersion ?? '';
    }
    const query: DeleteQuery = {
      propagationPolicy: step.propagation,
      uid: node.uid,
      // What was judged is what goes: a new owner since then saves it.
      ...(this.#options.planted.deletesUnseen ? {} : { resourceVersion: seen }),
      signal,
    };
    await this.#options.client.delete(node.resource, refTo(node), query);
  }

  /** Deleted in the foreground: it goes when nothing that it owns holds it up any more. */
  async #finishForeground(node: GraphNode, signal: AbortSignal): Promise<ReconcileResult> {
    // Who holds it up is looked at by itself; the end of each of them comes back here.
    if (!this.#options.graph.isBlocked(node)) await this.#dropFinalizer(node, foregroundFinalizer, signal);
    return done;
  }

  async #orphan(node: GraphNode, signal: AbortSignal): Promise<ReconcileResult> {
    const { client, collected } = this.#options;
    await releaseDependents(client, { owner: node, resources: await collected(signal) }, signal);
    await this.#dropFinalizer(node, orphanFinalizer, signal);
    return done;
  }

  async #dropFinalizer(node: GraphNode, finalizer: string, signal: AbortSignal): Promise<void> {
    const finalizers = node.finalizers.filter((name) => name !== finalizer);
    await this.#patch(node, { finalizers }, signal);
  }

  #setOwners(node: GraphNode, owners: readonly OwnerReference[], signal: AbortSignal): Promise<KubeObject> {
    return this.#patch(node, { ownerReferences: owners.map((owner) => ({ ...owner })) }, signal);
  }

  /** On the object as it was seen, or not at all. */
  #patch(node: GraphNode, fields: Record<string, JsonValue>, signal: AbortSignal): Promise<KubeObject> {
    const { uid, resourceVersion } = node;
    const body = { metadata: { uid, resourceVersion, ...fields } };
    return this.#options.client.patch(node.resource, refTo(node), { type: 'merge', body, signal });
  }
}

export function refTo({ namespace, name }: GraphNode): ObjectRef {
  return namespace === '' ? { name } : { namespace, name };
}
