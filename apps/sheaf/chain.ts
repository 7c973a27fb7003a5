import type { KubeObject } from '@sheaf/api';
import type { ServedResource } from '@sheaf/client';
import { isEnabled } from './addon-waiting.ts';
import { type ClusterView, type Link, nameOf, objectsIn, type Place } from './cluster-view.ts';
import { conditionOf, type Reference, referencesOf } from './condition-words.ts';
import { textAt } from './connect.ts';
import { leftoverLinks } from './leftover-links.ts';
import { findWaiting } from './waiting.ts';

const depthLimit = 8;
const childrenShown = 5;
/** Their conditions tell of what is far below them: the way down to it comes first. */
const ownWork = new Set(['Addon', 'HelmChart']);
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
  'wrangler.cattle.io/on-helm-chart-remove': 'helm-chart',
  'customresourcecleanup.apiextensions.k8s.io': 'custom-resource',
};

/**
 * Follows what an object waits for to the end: what it owns, what its conditions name, finalizers, contents, controllers; then tells to
 * whom it belongs.
 */
export async function followChain(
  view: ClusterView,
  resource: ServedResource,
  object: KubeObject,
): Promise<Link[]> {
  const walk = new Walk(view);
  await walk.visit(resource, object, 0);
  await walk.tellOwners(object, 1);
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
      this.links.push({ depth, object: name, text: fineWords(resource, object), nature: 'fine' });
      if (isSwitchedOff(resource, object))
        this.links.push(...(await leftoverLinks(this.#view, object, depth + 1)));
      return;
    }
    const { text, nature, wayOut } = waiting;
    this.links.push({ depth, object: name, text, nature, ...(wayOut ? { wayOut } : {}) });
    if (object.metadata.deletionTimestamp) await this.#followDeletion(resource, object, depth + 1);
    else await this.#followWork(resource, object, depth + 1);
  }

  /** Upwards: who made it, and would make it again. */
  async tellOwners({ metadata }: KubeObject, depth: number): Promise<void> {
    for (const owner of metadata.ownerReferences ?? []) {
      if (depth > depthLimit || this.#seen.has(owner.uid)) continue;
      this.#seen.add(owner.uid);
      const place = await this.#placeOf({ ...owner, namespace: metadata.namespace });
      const isThere = place?.object.metadata.uid === owner.uid;
      this.links.push(isThere ? ownerLink(place, depth) : goneLink(owner, depth));
      if (isThere) await this.tellOwners(place.object, depth + 1);
    }
  }

  async #placeOf({ kind, namespace, name }: Reference): Promise<Place | undefined> {
    const resource = this.#view.resources.find((each) => each.kind === kind);
    const ref = resource?.namespaced && namespace !== undefined ? { namespace, name } : { name };
    const object = resource && (await this.#view.find(resource, ref));
    return resource && object && { resource, object };
  }

  async #followDeletion(resource: ServedResource, object: KubeObject, depth: number): Promise<void> {
    const finalizers = object.metadata.finalizers ?? [];
    const isNamespace = resource.group === '' && resource.plural === 'namespaces';
    if (isNamespace) await this.#followContents(object.metadata.name ?? '', depth);
    else await this.#followOwned(object, { depth, isForeground: finalizers.includes('foregroundDeletion') });
    for (const finalizer of isNamespace ? ['kubernetes'] : finalizers)
      this.#tellFinalizer({ resource, object, finalizer, depth });
  }

  async #followContents(namespace: string, depth: number): Promise<void> {
    const remaining = await objectsIn(this.#view, namespace);
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
    const children = await this.#ownedBy(object);
    const isOwnWork = ownWork.has(resource.kind);
    if (!isOwnWork) await this.#followReferences(object, depth);
    for (const child of tellingOf(resource, children).slice(0, childrenShown))
      await this.visit(child.resource, child.object, depth);
    if (isOwnWork) await this.#followReferences(object, depth);
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
  async #followReferences(object: KubeObject, depth: number): Promise<void> {
    for (const reference of referencesOf(object)) await this.#followReference(reference, depth);
  }

  async #followReference(reference: Reference, depth: number): Promise<void> {
    const { kind, namespace, name } = reference;
    const place = await this.#placeOf(reference);
    if (place) {
      await this.visit(place.resource, place.object, depth);
      return this.tellOwners(place.object, depth + 1);
    }
    // Pods come and go with the tries of their Job.
    if (kind === 'Pod') return;
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

  /** In the foreground it waits for all of them; else only those are told that wait themselves. */
  async #followOwned(
    object: KubeObject,
    { depth, isForeground }: { readonly depth: number; readonly isForeground: boolean },
  ): Promise<void> {
    const children = await this.#ownedBy(object);
    for (const child of children.filter((each) => isForeground || isWaiting(each)).slice(0, childrenShown))
      await this.visit(child.resource, child.object, depth);
  }

  async #ownedBy({ metadata: { uid, namespace } }: KubeObject): Promise<Place[]> {
    const all = await objectsIn(this.#view, namespace);
    return all.filter(({ object }) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid));
  }
}

const fine = 'is as it should be, as far as it says';

function ownerLink({ resource, object }: Place, depth: number): Link {
  const waiting = findWaiting({ ...object, kind: resource.kind });
  const name = `owner ${nameOf(resource, object)}`;
  return { depth, object: name, nature: waiting?.nature ?? 'fine', text: waiting?.text ?? fine };
}

function goneLink({ kind, name }: { readonly kind: string; readonly name: string }, depth: number): Link {
  const text = 'is not there any more; garbage collection follows';
  return { depth, object: `owner ${kind}/${name}`, nature: 'transient', text };
}

function isSwitchedOff({ group, kind }: ServedResource, object: KubeObject): boolean {
  return group === 'harvesterhci.io' && kind === 'Addon' && !isEnabled(object);
}

function fineWords(resource: ServedResource, object: KubeObject): string {
  if (isSwitchedOff(resource, object)) return 'is off, as it should be';
  const isRunning = resource.kind === 'Pod' && textAt(object, 'status', 'phase') === 'Running';
  return isRunning ? `runs since ${textAt(object, 'status', 'startTime')}` : fine;
}

/** Those that wait; a Job that is not complete has its newest pod at work. */
function tellingOf({ kind }: ServedResource, children: readonly Place[]): readonly Place[] {
  const waiting = children.filter(isWaiting);
  return waiting.length === 0 && kind === 'Job' ? children.slice(-1) : waiting;
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
