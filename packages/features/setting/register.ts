import type { ApiExtensions } from '@sheaf/api';
import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { settingRule } from './admission.ts';
import { type Environment, pinsOf } from './pins.ts';
import { makeFoundations, makeSettings, reconcileSetting, type SettingParts } from './reconcile.ts';
import { settingTable } from './setting-table.ts';

export interface SettingOptions {
  /** Where `HARVESTER_NAME` and `HARVESTER_NAME_DEFAULT_VALUE` are looked up. */
  readonly environment: Environment;
}

/** What settings may say; added while the server is put together. */
export function extend(api: ApiExtensions, { environment }: SettingOptions): void {
  api.addAdmission(settingRule(pinsOf(environment)));
}

/** Makes the settings that are missing; never fails, and takes `boundMs` at most. */
export async function installSettings(
  { environment, ...parts }: Omit<SettingParts, 'pins'> & SettingOptions,
  boundMs: number,
): Promise<void> {
  const stop = new AbortController();
  const timer = parts.clock.schedule(boundMs, () => stop.abort(new Error('the server starts without them')));
  try {
    await makeSettings({ ...parts, pins: pinsOf(environment) }, stop.signal);
  } finally {
    timer.dispose();
  }
}

/** Keeps them: each has its default and tells what becomes of it; a deleted one comes back with its default. */
export function register(manager: Manager, { environment }: SettingOptions): void {
  const { client, clock, logger } = manager;
  const parts: SettingParts = { client, clock, logger, pins: pinsOf(environment) };
  const settings = manager.informer(resources.settings);
  const controller = manager.controller({
    name: 'setting',
    concurrency: 8,
    reconcile: (name, signal) =>
      reconcileSetting(parts, { name, observed: settings.cache.get(name) }, signal),
  });
  controller.watch(settings);
  for (const { name } of settingTable) controller.queue.add(name);
  const around = manager.controller({
    name: 'setting-foundation',
    reconcile: (_, signal) => makeFoundations(client, signal),
  });
  around.queue.add('all');
}
