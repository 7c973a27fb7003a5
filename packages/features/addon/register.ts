import type { ApiExtensions } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { EventRecorder, keyOf, type Manager, WrittenObjects } from '@sheaf/runtime';
import { addonRule } from './admission.ts';
import { makePackaged } from './packaged.ts';
import { reconcileAddon } from './reconcile.ts';

export { valuesOf as addonValues } from './addon-chart.ts';
export { makePackaged };

const concurrency = 4;

/** What add-ons may be; added while the server is put together. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(addonRule);
}

/** Brings add-ons to what they say; makes those that come with the release, all disabled, once at each start. */
export function register(manager: Manager): void {
  const { client } = manager;
  registerAddons(manager);
  const packaged = manager.controller({
    name: 'addon-packaged',
    reconcile: (_, signal) => makePackaged(client, signal),
  });
  packaged.queue.add('all');
}

/** Without the packaged ones. */
export function registerAddons(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'addon-controller' });
  const addons = manager.informer(resources.addons);
  const charts = manager.informer(resources.helmCharts);
  const jobs = manager.informer(resources.jobs);
  const namespaces = manager.informer(resources.namespaces);
  const parts = {
    client,
    clock,
    recorder,
    addons: addons.cache,
    charts: new WrittenObjects({ client, clock, informer: charts }),
    jobs: jobs.cache,
    namespaces: namespaces.cache,
  };
  manager
    .controller({
      name: 'addon',
      concurrency,
      reconcile: (key, signal) => reconcileAddon(parts, key, signal),
    })
    .watch(addons)
    .watchMapped(charts, (chart) => [keyOf(chart)])
    .watchMapped(jobs, ({ metadata }) => {
      const name = metadata.labels?.['helmcharts.helm.cattle.io/chart'];
      return name === undefined ? [] : [`${metadata.namespace}/${name}`];
    })
    .watchMapped(namespaces, ({ metadata }) =>
      metadata.deletionTimestamp === undefined ? [] : addons.cache.list(metadata.name ?? '').map(keyOf),
    );
}
