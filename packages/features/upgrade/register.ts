import type { ApiExtensions } from '@sheaf/api';
import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { upgradeRule } from './admission.ts';
import { reconcileUpgrade } from './reconcile.ts';

/** What upgrades may begin; added while the server is put together. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(upgradeRule);
}

/** Tells whoever asks for an upgrade what becomes of it. */
export function register(manager: Manager): void {
  const { client, clock } = manager;
  const upgrades = manager.informer(resources.upgrades);
  const parts = { client, clock, upgrades: upgrades.cache };
  manager
    .controller({ name: 'upgrade', reconcile: (key, signal) => reconcileUpgrade(parts, key, signal) })
    .watch(upgrades);
}
