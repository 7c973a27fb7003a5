import type { KubeObject } from '@sheaf/api';
import {
  type Leftover,
  type LeftoverCause,
  leftoversAnnotation,
  readLeftovers,
} from '@sheaf/api/addon/index';
import type { ServedResource } from '@sheaf/client';
import { type ClusterView, type Link, nameOf, objectsIn, type Place } from './cluster-view.ts';

const causes: Readonly<Record<LeftoverCause, string>> = {
  volume: 'it holds data, and nobody but you decides about that',
  definition: 'with it all objects of its kind would go',
  namespace: 'others may have put things into it',
  hook: 'its chart made it for a moment, and has not said that it may go',
  kept: 'its chart says that it is kept',
};

/** What is there of an add-on that is off: what stays on purpose, and what bears its name. */
export async function leftoverLinks(view: ClusterView, addon: KubeObject, depth: number): Promise<Link[]> {
  const leftovers = readLeftovers(addon);
  if (leftovers === undefined) return [unreadable(addon, depth)];
  const known: Place[] = [];
  const links: Link[] = [];
  for (const leftover of leftovers) {
    const place = await placeOf(view, leftover);
    if (!place || known.some(({ object }) => object.metadata.uid === place.object.metadata.uid)) continue;
    known.push(place);
    const text = `stays on purpose: ${causes[leftover.because]}${await countWords(view, place)}`;
    links.push(linkOf({ place, depth, text }));
  }
  for (const place of await marked(view, addon)) {
    if (known.some(({ object }) => object.metadata.uid === place.object.metadata.uid)) continue;
    links.push(linkOf({ place, depth, text: 'bears its name, and belongs to nothing else' }));
  }
  return links;
}

function unreadable({ metadata }: KubeObject, depth: number): Link {
  const { namespace, name } = metadata;
  return {
    depth,
    object: `annotation ${leftoversAnnotation}`,
    nature: 'fault',
    text: 'cannot be read, so it is not known what stays of its chart',
    wayOut: `kubectl annotate addon ${name} -n ${namespace} ${leftoversAnnotation}-`,
  };
}

async function placeOf(view: ClusterView, leftover: Leftover): Promise<Place | undefined> {
  const { group, kind, namespace, name } = leftover;
  const resource = view.resources.find((each) => each.group === group && each.kind === kind);
  if (!resource) return undefined;
  const object = await view.find(resource, resource.namespaced ? { namespace, name } : { name });
  return object && { resource, object };
}

/** How many objects go with a definition. */
async function countWords(view: ClusterView, { resource, object }: Place): Promise<string> {
  if (resource.kind !== 'CustomResourceDefinition') return '';
  const served = view.resources.find(({ plural, group }) => `${plural}.${group}` === object.metadata.name);
  const count = served ? (await view.list(served, undefined)).length : 0;
  return count === 0 ? '; there are none' : `; there are ${count}`;
}

function linkOf({ place, depth, text }: { place: Place; depth: number; text: string }): Link {
  const { resource, object } = place;
  return { depth, object: nameOf(resource, object), text, nature: 'fine', wayOut: removal(resource, object) };
}

function removal({ group, plural }: ServedResource, { metadata }: KubeObject): string {
  const kind = group === '' ? plural : `${plural}.${group}`;
  const place = metadata.namespace ? ` -n ${metadata.namespace}` : '';
  return `when nobody needs it: kubectl delete ${kind} ${metadata.name}${place}`;
}

/** What says by the usual marks of charts that it is of this release, and has no owner that it would go with. */
async function marked(view: ClusterView, addon: KubeObject): Promise<readonly Place[]> {
  const { namespace = '', name = '' } = addon.metadata;
  const places = await objectsIn(view, namespace);
  return places.filter(({ object: { metadata } }) => {
    const { labels = {}, annotations = {}, ownerReferences = [] } = metadata;
    if (ownerReferences.length > 0) return false;
    const names = [
      labels['app.kubernetes.io/instance'],
      labels['release'],
      annotations['meta.helm.sh/release-name'],
    ];
    return names.includes(name);
  });
}
