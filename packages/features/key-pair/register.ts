import type { ApiExtensions } from '@sheaf/api';
import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { keyPairRule } from './admission.ts';
import { reconcileKeyPair } from './reconcile.ts';
import { type KeyPairOptions, keygenRoutes, type NewKey } from './routes.ts';

export type { NewKey };

/** What key pairs may be, and the action that makes one; added while the server is put together. */
export function extend(api: ApiExtensions, options: KeyPairOptions): void {
  api.addAdmission(keyPairRule);
  for (const route of keygenRoutes(options)) api.addRoute(route);
}

/** Fingerprints of key pairs. */
export function register(manager: Manager): void {
  const keyPairs = manager.informer(resources.keyPairs);
  manager
    .controller({
      name: 'key-pair',
      reconcile: (key, signal) => reconcileKeyPair(manager, keyPairs.cache.get(key), signal),
    })
    .watch(keyPairs);
}
