import type { KubeObject } from '@sheaf/api';
import type { Disposable } from '@sheaf/base';

/**
 * The newest durable objects of one resource, parsed, in this process's memory: what the server itself reads to decide
 * (roles, namespaces, webhook configurations, CRDs). It is never behind an acknowledged write. Objects are shared and
 * must not be changed.
 */
export interface LiveView {
  get(namespace: string, name: string): KubeObject | undefined;
  /** All objects, or those of one namespace, in key order. */
  list(namespace?: string): readonly KubeObject[];
  /** Grows with each change of the resource; a derived index is valid as long as it stays the same. */
  readonly version: number;
  /** `object` undefined: deleted. Called after the change is visible, in order. */
  onChange(listener: (change: LiveChange) => void): Disposable;
}

export interface LiveChange {
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
}

/** Gives the view of a resource, storage version. Unknown resources have an empty view that fills when they appear. */
export interface LiveViews {
  of(group: string, resource: string): LiveView;
}
