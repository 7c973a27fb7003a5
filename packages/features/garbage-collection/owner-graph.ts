import { type KubeObject, type OwnerReference, parseApiVersion } from '@sheaf/api';
import type { ServedResource } from '@sheaf/client';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** An object as the collector knows it. */
export interface GraphNode {
  readonly uid: string;
  readonly resource: ServedResource;
  /** Empty at cluster scope. */
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}

/** Its dependents go first. */
export function isForeground(node: GraphNode): boolean {
  return node.isDeleting && node.finalizers.includes(foregroundFinalizer);
}

/** Its dependents stay, without it. */
export function isOrphaning(node: GraphNode): boolean {
  return node.isDeleting && node.finalizers.includes(orphanFinalizer);
}

export function nodeOf(object: KubeObject, resource: ServedResource): GraphNode {
  const { metadata } = object;
  return {
    uid: metadata.uid ?? '',
    resource,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    owners: metadata.ownerReferences ?? noOwners,
    finalizers: metadata.finalizers ?? noFinalizers,
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
}

const noOwners: readonly OwnerReference[] = [];
const noFinalizers: readonly string[] = [];
const nobody: ReadonlySet<string> = new Set();

/** Who owns whom, by uid. Owners need not be known to have dependents. Each change says whose turn it is. */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  nodes(): Iterable<GraphNode> {
    return this.#nodes.values();
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid);
  }

  /** A foreground deletion of the object waits for someone. */
  isBlocked(owner: GraphNode): boolean {
    return this.#someDependent(owner.uid, (dependent) => blocks(dependent, owner));
  }

  /** Someone whom `uid` owns waits for its own dependents. */
  hasForegroundDependent(uid: string): boolean {
    return this.#someDependent(uid, isForeground);
  }

  #someDependent(uid: string, isSought: (node: GraphNode) => boolean): boolean {
    for (const dependent of this.#dependents.get(uid) ?? nobody) {
      const node = this.#nodes.get(dependent);
      if (node && isSought(node)) return true;
    }
    return false;
  }

  /** Takes the newest state of an object; returns the uids to look at. */
  put(node: GraphNode): Set<string> {
    const old = this.#nodes.get(node.uid);
    this.#nodes.set(node.uid, node);
    this.#link(node, old);
    const due = new Set<string>();
    if (node.owners.length > 0 && (!old || !hasSameOwners(node, old))) due.add(node.uid);
    if (old) this.#addReleased(due, old, node);
    if (isOrphaning(node)) due.add(node.uid);
    if (isForeground(node)) {
      due.add(node.uid);
      if (!old || !isForeground(old)) this.#addDependents(due, node.uid);
    }
    return due;
  }

  /** The object is gone; returns the uids to look at: what it owned, and owners that waited for it. */
  remove(uid: string): Set<string> {
    const old = this.#nodes.get(uid);
    const due = new Set<string>();
    this.#addDependents(due, uid);
    if (!old) return due;
    this.#nodes.delete(uid);
    for (const owner of old.owners) this.#unlink(owner.uid, uid);
    this.#addReleased(due, old, undefined);
    return due;
  }

  #link(node: GraphNode, old: GraphNode | undefined): void {
    if (old?.owners === node.owners) return;
    for (const owner of old?.owners ?? noOwners) this.#unlink(owner.uid, node.uid);
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents) dependents.add(node.uid);
      else this.#dependents.set(uid, new Set([node.uid]));
    }
  }

  #unlink(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner);
    if (dependents?.delete(dependent) && dependents.size === 0) this.#dependents.delete(owner);
  }

  #addDependents(due: Set<string>, uid: string): void {
    for (const dependent of this.#dependents.get(uid) ?? nobody) due.add(dependent);
  }

  /** Owners in foreground deletion that `old` held up and `node` does not. */
  #addReleased(due: Set<string>, old: GraphNode, node: GraphNode | undefined): void {
    for (const { uid } of old.owners.filter((owner) => owner.blockOwnerDeletion)) {
      const owner = this.#nodes.get(uid);
      if (!owner || !isForeground(owner)) continue;
      if (!node || !blocks(node, owner)) due.add(uid);
    }
  }
}

/** True when the owner's foreground deletion waits for the dependent. A reference that leads elsewhere holds up nobody. */
function blocks(dependent: GraphNode, owner: GraphNode): boolean {
  return dependent.owners.some(
    (reference) =>
      reference.uid === owner.uid &&
      reference.blockOwnerDeletion &&
      isMeant(owner, reference, owner.resource.namespaced ? dependent.namespace : ''),
  );
}

/** All that a reference says must fit, as when the server is asked for it. `namespace`: where it points. */
export function isMeant(node: GraphNode, reference: OwnerReference, namespace: string): boolean {
  return (
    node.name === reference.name &&
    node.namespace === namespace &&
    node.resource.kind === reference.kind &&
    node.resource.group === parseApiVersion(reference.apiVersion).group
  );
}

function hasSameOwners(a: GraphNode, b: GraphNode): boolean {
  if (a.owners === b.owners) return true;
  return (
    a.owners.length === b.owners.length &&
    a.owners.every((owner, index) => {
      const other = b.owners[index];
      return (
        other?.uid === owner.uid &&
        other.name === owner.name &&
        other.kind === owner.kind &&
        other.apiVersion === owner.apiVersion &&
        other.blockOwnerDeletion === owner.blockOwnerDeletion
      );
    })
  );
}
