import type { KubeObject, OwnerReference } from '@sheaf/api';
import type { Client, ServedResource } from '@sheaf/client';
import { AbsentOwners } from './absent-owners.ts';
import {
  foregroundFinalizer,
  type GraphNode,
  isForeground,
  isMeant,
  type OwnerGraph,
} from './owner-graph.ts';
import type { OwnerKinds } from './owner-kinds.ts';
import type { JudgedOwner, OwnerState } from './plan.ts';

/** Faults that tests plant, to see that they are found. */
export interface PlantedFaults {
  /** What is not in the graph is taken for absent without asking the server. */
  readonly trustsGraph?: boolean;
  /** An object of the same name is taken for the owner, whatever its uid. */
  readonly ignoresUid?: boolean;
  /** Objects are deleted as they are now, not as they were judged. */
  readonly deletesUnseen?: boolean;
}

export interface OwnerJudgeOptions {
  readonly client: Client;
  readonly graph: OwnerGraph;
  readonly kinds: () => OwnerKinds;
  readonly planted: PlantedFaults;
  /** Told of references to an object in another namespace. */
  readonly onForeignOwner: (node: GraphNode, reference: OwnerReference) => void;
}

export interface Judgement {
  readonly owners: readonly JudgedOwner[];
  /** An owner lives that the graph does not know yet: its end could be missed, so the object must be looked at again. */
  readonly isUnobserved: boolean;
}

/**
 * Says of each owner whether it lives. The graph may be behind: that an owner is there is believed (its end will be
 * told), that it is absent never is without asking the server.
 */
export class OwnerJudge {
  readonly #options: OwnerJudgeOptions;
  readonly #absent = new AbsentOwners();
  /** Owners that the server has said to be in foreground deletion, by uid, in the version that the graph then knew. */
  readonly #confirmed = new Map<string, string>();

  constructor(options: OwnerJudgeOptions) {
    this.#options = options;
  }

  /** The object was seen to go. */
  markAbsent(node: GraphNode): void {
    const { group, version, kind } = node.resource;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    this.#absent.add({ apiVersion, kind, name: node.name, uid: node.uid }, node.namespace);
    this.#confirmed.delete(node.uid);
  }

  async judge(node: GraphNode, signal: AbortSignal): Promise<Judgement> {
    const owners: JudgedOwner[] = [];
    let isUnobserved = false;
    for (const reference of node.owners) {
      const { state, isKnown } = await this.#judgeOne(node, reference, signal);
      if (state === 'live' && !isKnown) isUnobserved = true;
      owners.push({ reference, state });
    }
    return { owners, isUnobserved };
  }

  async #judgeOne(node: GraphNode, reference: OwnerReference, signal: AbortSignal): Promise<Verdict> {
    const resource = this.#options.kinds().find(reference.apiVersion, reference.kind);
    // Seen to go, although its kind may have gone after it.
    if (this.#isKnownAbsent(node, reference, resource)) return { state: 'absent', isKnown: true };
    if (!resource) return { state: 'unknown', isKnown: true };
    // No namespace to look in: such a reference is a mistake, and mistakes delete nothing.
    if (resource.namespaced && node.namespace === '') return { state: 'live', isKnown: true };
    return this.#judgeAt(
      node,
      { reference, resource, namespace: resource.namespaced ? node.namespace : '' },
      signal,
    );
  }

  async #judgeAt(node: GraphNode, place: Place, signal: AbortSignal): Promise<Verdict> {
    const { reference, namespace } = place;
    const known = this.#options.graph.get(reference.uid);
    if (!known) return this.#ask(place, signal);
    if (isMeant(known, reference, namespace)) {
      const isWaiting = isForeground(known) && reference.blockOwnerDeletion;
      return isWaiting ? this.#confirm(known, place, signal) : { state: 'live', isKnown: true };
    }
    if (known.namespace !== namespace) this.#options.onForeignOwner(node, reference);
    return this.#ask(place, signal);
  }

  /** A deletion may be turned from a foreground into an orphaning one, so the graph alone is not believed here either. */
  async #confirm({ uid, resourceVersion }: GraphNode, place: Place, signal: AbortSignal): Promise<Verdict> {
    if (this.#confirmed.get(uid) === resourceVersion) return { state: 'deleting-dependents', isKnown: true };
    const { state } = await this.#ask(place, signal);
    if (state === 'deleting-dependents') this.#confirmed.set(uid, resourceVersion);
    return { state, isKnown: true };
  }

  #isKnownAbsent(node: GraphNode, reference: OwnerReference, resource: ServedResource | undefined): boolean {
    if (resource?.namespaced !== true && this.#absent.has(reference, '')) return true;
    return resource?.namespaced !== false && this.#absent.has(reference, node.namespace);
  }

  async #ask({ reference, resource, namespace }: Place, signal: AbortSignal): Promise<Verdict> {
    const { client, planted } = this.#options;
    if (planted.trustsGraph) return { state: 'absent', isKnown: false };
    const ref = namespace === '' ? { name: reference.name } : { namespace, name: reference.name };
    const owner = await client.findMetadata(resource, ref, signal);
    if (owner && (owner.metadata.uid === reference.uid || planted.ignoresUid))
      return { state: stateOf(owner, reference), isKnown: false };
    this.#absent.add(reference, namespace);
    return { state: 'absent', isKnown: false };
  }
}

function stateOf({ metadata }: KubeObject, { blockOwnerDeletion }: OwnerReference): OwnerState {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const isWaiting = deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer);
  return isWaiting && blockOwnerDeletion ? 'deleting-dependents' : 'live';
}

interface Verdict {
  readonly state: OwnerState;
  readonly isKnown: boolean;
}

/** Where a reference points. */
interface Place {
  readonly reference: OwnerReference;
  readonly resource: ServedResource;
  readonly namespace: string;
}
