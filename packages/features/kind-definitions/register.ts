import type { ApiExtensions } from '@sheaf/api';
import { kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { type Client, resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import { protection } from './admission.ts';
import { DefinitionKeeper, type DefinitionKeeperOptions } from './reconcile.ts';

export type { DefinitionKeeper };

export interface InstallOptions extends Omit<DefinitionKeeperOptions, 'client' | 'definitions'> {
  /** The server does not say that it is ready before the kinds are served, but for this long at most. */
  readonly boundMs: number;
}

/** Serves the kinds that this release brings along. Never fails; the keeper tells what is not served. */
export async function installKinds(
  client: Client,
  { boundMs, ...options }: InstallOptions,
): Promise<DefinitionKeeper> {
  const keeper = new DefinitionKeeper({ ...options, client, definitions: kindDefinitions() });
  await keeper.install(boundMs);
  return keeper;
}

/** Keeps them: a definition that is changed or deleted comes back. */
export function register(manager: Manager, keeper: DefinitionKeeper): void {
  // Their schemas are large, and in most runs nobody looks at them again.
  const informer = manager.informer(resources.customResourceDefinitions, { metadataOnly: true });
  const controller = manager.controller({
    name: 'kind-definitions',
    reconcile: (key, signal) => keeper.reconcile(key, informer.cache.get(key), signal),
  });
  controller.watchMapped(informer, (crd) => (keeper.keeps(keyOf(crd)) ? [keyOf(crd)] : []));
  for (const name of keeper.names) controller.queue.add(name);
}

/** Asks for a confirmation before a definition is deleted. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(protection(kindDefinitions()));
}
