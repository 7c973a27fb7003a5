import type { KubeObject } from '@sheaf/api';
import type { ObjectRef, ResourceRef, ServedResource } from '@sheaf/client';
import { conditionOf, type Reference, referencesOf } from './condition-words.ts';
import { type ControllerReport, textAt } from './connect.ts';
import { findWaiting } from './waiting.ts';

/** One link of the chain from an object to what it waits for in the end. */
export interface Link {
  /** 0 for the object asked about. */
  readonly depth: number;
  readonly object: string;
  readonly text: string;
  readonly nature: 'fine' | 'transient' | 'fault';
  readonly wayOut?: string;
}

/** What the chain is read from. */
export interface ClusterView {
  readonly resources: readonly ServedResource[];
  readonly controllers: readonly ControllerReport[];
  find(resource: ResourceRef, ref: ObjectRef): Promise<KubeObject | undefined>;
  list(resource: ResourceRef, namespace: string | undefined): Promise<readonly KubeObject[]>;
}

const depthLimit = 8;
const childrenShown = 5;
/** What is not worth following down: made by others for their own ends. */
const notContent = new Set(['events', 'events.events.k8s.io']);
/** Which controller of Sheaf takes a finalizer away. */
const finalizerControllers: Readonly<Record<string, string>> = {
  kubernetes: 'namespace',
  'kubernetes.io/pvc-protection': 'persistent-volume-claim',
  'kubernetes.io/pv-protection': 'persistent-volume',
  'external-provisioner.volume.kubernetes.io/finalizer': 'persistent-volume',
  'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection': 'volume-snapshot',
  'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection': 'volume-snapshot',
  'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection': 'volume-snapshot-content',
  'sheaf.dev/data-volume-image': 'data-volume',
  foregroundDeletion: 'garbage-collection',
  orphan: 'garbage-collection',
  'customresourcecleanup.apiextensions.k8s.io': 'custom-resource',
};

/** Follows what an object waits for to the end: finalizer, contents, owned objects, controller. */
export async function followChain(
  view: ClusterView,
  resource: ServedResource,
  object: KubeObject,
): Promise<Link[]> {
  const walk = new Walk(view);
  await walk.visit(resource, object, 0);
  return walk.links;
}

class Walk {
  readonly links: Link[] = [];
  readonly #view: ClusterView;
  readonly #seen = new Set<string>();

  constructor(view: ClusterView) {
    this.#view = view;
  }

  async visit(resource: ServedResource, object: KubeObject, depth: number): Promise<void> {
    const { uid = '' } = object.metadata;
    if (depth > depthLimit || this.#seen.has(uid)) return;
    this.#seen.add(uid);
    const name = nameOf(resource, object);
    const waiting = findWaiting({ ...object, kind: resource.kind });
    if (!waiting) {
      this.links.push({ depth, object: name, text: 'is as it should be, as far as it says', nature: 'fine' });
      return;
    }
    const { text, nature, wayOut } = waiting;
    this.links.push({ depth, object: name, text, nature, ...(wayOut ? { wayOut } : {}) });
    if (object.metadata.deletionTimestamp) await this.#followDeletion(resource, object, depth + 1);
    else await this.#followWork(resource, object, depth + 1);
  }

  async #followDeletion(resource: ServedResource, object: KubeObject, depth: number): Promise<void> {
    const finalizers = object.metadata.finalizers ?? [];
    const isNamespace = resource.group === '' && resource.plural === 'namespaces';
    if (isNamespace) await this.#followContents(object.metadata.name ?? '', depth);
    if (finalizers.includes('foregroundDeletion')) await this.#followOwned(object, depth);
    for (const finalizer of isNamespace ? ['kubernetes'] : finalizers)
      this.#tellFinalizer({ resource, object, finalizer, depth });
  }

  async #followContents(namespace: string, depth: number): Promise<void> {
    const remaining = await this.#objectsIn(namespace);
    for (const { resource, object } of byFinalizers(remaining).slice(0, childrenShown))
      await this.visit(resource, object, depth);
    if (remaining.length > childrenShown)
      this.links.push({
        depth,
        object: `Namespace/${namespace}`,
        text: `holds ${remaining.length} objects in all`,
        nature: 'transient',
      });
  }

  #tellFinalizer(input: {
    resource: ServedResource;
    object: KubeObject;
    finalizer: string;
    depth: number;
  }): void {
    const { resource, object, finalizer, depth } = input;
    const known = Object.hasOwn(finalizerControllers, finalizer)
      ? finalizerControllers[finalizer]
      : undefined;
    if (known !== undefined) return this.#tellController(known, object, depth);
    const manager = managerOf(object, finalizer);
    const { namespace, name = '' } = object.metadata;
    const place = namespace ? ` -n ${namespace}` : '';
    this.links.push({
      depth,
      object: `finalizer ${finalizer}`,
      nature: 'fault',
      text: `no controller of Sheaf takes it away; ${manager === '' ? 'nothing says who set it' : `it was set by ${JSON.stringify(manager)}`}`,
      wayOut: `Start the program that set it. If it will never come back and what it cleans up may stay: kubectl patch ${resource.plural} ${name}${place} --type=merge -p '{"metadata":{"finalizers":null}}'`,
    });
  }

  #tellController(name: string, object: KubeObject, depth: number): void {
    const report = this.#view.controllers.find((item) => item.name === name);
    const link = { depth, object: `controller ${name}` };
    if (!report) {
      this.links.push({
        ...link,
        nature: 'fault',
        text: 'does not run',
        wayOut: 'Restart the server and look at its log.',
      });
      return;
    }
    const { namespace, name: objectName = '' } = object.metadata;
    const key = namespace ? `${namespace}/${objectName}` : objectName;
    const failure = report.failing.find((item) => item.key === key || item.key.endsWith(` ${key}`));
    const text = failure
      ? `fails with: ${failure.message}`
      : `is at work (${report.passes} passes, ${report.queueDepth} waiting)`;
    this.links.push({ ...link, text, nature: 'transient' });
  }

  /** Workloads wait for what they own, pods for a node; whatever was never looked at waits for a controller. */
  async #followWork(resource: ServedResource, object: KubeObject, depth: number): Promise<void> {
    if (resource.kind === 'Pod') return this.#followPod(object, depth);
    for (const reference of referencesOf(object)) await this.#followReference(reference, depth);
    const children = await this.#ownedBy(object);
    for (const child of children.filter(isWaiting).slice(0, childrenShown))
      await this.visit(child.resource, child.object, depth);
    if (children.length === 0 && textAt(object, 'status') === '' && isUnobserved(resource, object))
      this.links.push({
        depth,
        object: `controller of ${resource.plural}`,
        nature: 'fault',
        text: `nothing here seems to work on ${resource.plural}; controllers that run: ${this.#view.controllers.map(({ name }) => name).join(', ') || 'none'}`,
        wayOut: 'Start the controller of this kind, and see that it may read and write it.',
      });
  }

  /** What an object says that it waits for, in its own words. */
  async #followReference(reference: Reference, depth: number): Promise<void> {
    const { kind, namespace, name } = reference;
    const resource = this.#view.resources.find((each) => each.kind === kind);
    const found = resource && (await this.#view.find(resource, namespace ? { namespace, name } : { name }));
    if (resource && found) return this.visit(resource, found, depth);
    this.links.push({
      depth,
      object: namespace ? `${kind}/${name} in ${namespace}` : `${kind}/${name}`,
      nature: 'fault',
      text: 'is not there',
      wayOut: 'Create it, or write the object that waits without it.',
    });
  }

  async #followPod(pod: KubeObject, depth: number): Promise<void> {
    if (textAt(pod, 'spec', 'nodeName') !== '') return;
    const resource = this.#view.resources.find(({ group, plural }) => group === '' && plural === 'nodes');
    const nodes = resource ? await this.#view.list(resource, undefined) : [];
    if (nodes.some(runsPods)) return;
    this.links.push({
      depth,
      object: 'nodes',
      nature: 'fault',
      text:
        nodes.length === 0
          ? 'there is no node, so nothing runs pods'
          : `no node runs pods: ${nodes.map(whyNoPods).join('; ')}`,
      wayOut: 'Do what the node says; pods that wait go on by themselves.',
    });
  }

  async #followOwned(object: KubeObject, depth: number): Promise<void> {
    for (const child of (await this.#ownedBy(object)).slice(0, childrenShown))
      await this.visit(child.resource, child.object, depth);
  }

  async #ownedBy({ metadata: { uid, namespace } }: KubeObject): Promise<Place[]> {
    const all = await this.#objectsIn(namespace);
    return all.filter(({ object }) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid));
  }

  async #objectsIn(namespace: string | undefined): Promise<Place[]> {
    const places: Place[] = [];
    for (const resource of this.#view.resources) {
      const id = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
      if (notContent.has(id) || (namespace !== undefined && !resource.namespaced)) continue;
      for (const object of await this.#view.list(resource, namespace)) places.push({ resource, object });
    }
    return places;
  }
}

interface Place {
  readonly resource: ServedResource;
  readonly object: KubeObject;
}

function nameOf(resource: ServedResource, { metadata }: KubeObject): string {
  const name = `${resource.kind}/${metadata.name ?? ''}`;
  return metadata.namespace ? `${name} in ${metadata.namespace}` : name;
}

/** What has finalizers holds up the others. */
function byFinalizers(places: readonly Place[]): Place[] {
  const count = ({ object }: Place): number => object.metadata.finalizers?.length ?? 0;
  return [...places].sort((a, b) => count(b) - count(a));
}

function isWaiting({ resource, object }: Place): boolean {
  return findWaiting({ ...object, kind: resource.kind }) !== undefined;
}

function runsPods(node: KubeObject): boolean {
  const isAble = textAt(conditionOf(node, 'ContainersRunnable'), 'status') !== 'False';
  return isAble && Number(textAt(node, 'status', 'allocatable', 'pods') || '0') > 0;
}

function whyNoPods(node: KubeObject): string {
  const why = textAt(conditionOf(node, 'ContainersRunnable'), 'message') || 'it has room for none';
  return `${node.metadata.name ?? ''}: ${why}`;
}

function isUnobserved(resource: ServedResource, object: KubeObject): boolean {
  return findWaiting({ ...object, kind: resource.kind })?.reason === 'NotObserved';
}

/** Who wrote the finalizer, by the bookkeeping of fields. */
function managerOf({ metadata }: KubeObject, finalizer: string): string {
  const mark = `v:${JSON.stringify(finalizer)}`;
  const found = metadata.managedFields?.find((entry) =>
    JSON.stringify(entry.fieldsV1 ?? {}).includes(JSON.stringify(mark).slice(1, -1)),
  );
  return found?.manager ?? '';
}
