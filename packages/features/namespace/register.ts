import type { ApiExtensions } from '@sheaf/api';
import { resources, type ServedResource } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { namespaceRule } from './admission.ts';
import { NamespaceReconciler } from './reconcile.ts';

const concurrency = 4;

export interface NamespaceOptions {
  /** Which resources are emptied; all if absent. */
  readonly isEmptied?: (resource: ServedResource) => boolean;
}

/** Empties and removes namespaces that are being deleted. */
export function register(manager: Manager, { isEmptied }: NamespaceOptions = {}): void {
  const { client, clock, discovery } = manager;
  const reconciler = new NamespaceReconciler({ client, clock, discovery, isEmptied });
  manager
    .controller({
      name: 'namespace',
      concurrency,
      reconcile: (key, signal) => reconciler.reconcile(key, signal),
    })
    .watchMapped(manager.informer(resources.namespaces), ({ metadata }) =>
      metadata.deletionTimestamp === undefined ? [] : [metadata.name ?? ''],
    );
}

/** Asks for a confirmation before virtual machines are deleted with their namespace. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(namespaceRule);
}
