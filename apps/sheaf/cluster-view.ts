import type { KubeObject } from '@sheaf/api';
import type { ObjectRef, ResourceRef, ServedResource } from '@sheaf/client';
import type { ControllerReport } from './connect.ts';

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

/** An object, and what it is one of. */
export interface Place {
  readonly resource: ServedResource;
  readonly object: KubeObject;
}

/** What is not worth following down: made by others for their own ends. */
const notContent = new Set(['events', 'events.events.k8s.io']);

/** Everything in a namespace; everything at all without one. */
export async function objectsIn(view: ClusterView, namespace: string | undefined): Promise<Place[]> {
  const places: Place[] = [];
  for (const resource of view.resources) {
    const id = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
    if (notContent.has(id) || (namespace !== undefined && !resource.namespaced)) continue;
    for (const object of await view.list(resource, namespace)) places.push({ resource, object });
  }
  return places;
}

export function nameOf(resource: ServedResource, { metadata }: KubeObject): string {
  const name = `${resource.kind}/${metadata.name ?? ''}`;
  return metadata.namespace ? `${name} in ${metadata.namespace}` : name;
}
