import { resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import { isBeingDeleted } from './plan.ts';
import { DefinitionReconciler } from './reconcile.ts';

/** Clean-up of custom resources whose definition is being deleted. */
export function register(manager: Manager): void {
  const reconciler = new DefinitionReconciler(manager);
  manager
    .controller({
      name: 'custom-resource',
      concurrency: 4,
      reconcile: (key, signal) => reconciler.reconcile(key, signal),
    })
    .watchMapped(manager.informer(resources.customResourceDefinitions, { metadataOnly: true }), (crd) =>
      isBeingDeleted(crd) ? [keyOf(crd)] : [],
    );
}
