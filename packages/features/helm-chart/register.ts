import type { KubeObject } from '@sheaf/api';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import type { Bundles, ChartContents } from '@sheaf/ports';
import { EventRecorder, keyOf, type Manager, WrittenObjects } from '@sheaf/runtime';
import { chartLabel, namesOf } from './chart-names.ts';
import { referencesOf } from './chart-values.ts';
import { reconcileChart } from './reconcile.ts';
import { releaseOfRecord } from './release-drift.ts';

export { extend } from './bundle-routes.ts';
export { chartNeed } from './chart-need.ts';

const concurrency = 4;

export interface ChartHost {
  readonly chartContents: ChartContents;
  /** Charts that wait for their content are looked at again when a bundle has come. */
  readonly bundles: Pick<Bundles, 'onChange'>;
}

/** Installs, updates and uninstalls the charts that HelmCharts name, each operation a Job. */
export function register(manager: Manager, host?: ChartHost): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'helm-controller' });
  const charts = manager.informer(resources.helmCharts);
  const configs = manager.informer(resources.helmChartConfigs);
  const jobs = manager.informer(resources.jobs);
  const pods = manager.informer(resources.pods);
  const secrets = manager.informer(resources.secrets, { metadataOnly: true });
  const configMaps = manager.informer(resources.configMaps, { metadataOnly: true });
  const namespaces = manager.informer(resources.namespaces);
  const parts = {
    client,
    recorder,
    charts: charts.cache,
    configs: configs.cache,
    namespaces: namespaces.cache,
    jobs: new WrittenObjects({ client, clock, informer: jobs }),
    pods: pods.cache,
    contents: host?.chartContents,
    ...(host && { records: { secret: secrets.cache, configmap: configMaps.cache } }),
  };
  const chartOf = ({ metadata }: KubeObject): readonly string[] => {
    const name = metadata.labels?.[chartLabel];
    return name === undefined ? [] : [`${metadata.namespace}/${name}`];
  };
  const usersOf = (kind: 'Secret' | 'ConfigMap', { metadata }: KubeObject): readonly string[] =>
    charts.cache
      .list(metadata.namespace ?? '')
      .filter((chart) =>
        referencesOf(chart, configs.cache.get(keyOf(chart))).some(
          (reference) => reference.kind === kind && reference.name === metadata.name,
        ),
      )
      .map(keyOf);
  const withRelease = (object: KubeObject): readonly string[] => {
    const release = releaseOfRecord(object);
    if (release === undefined) return [];
    const isOf = (chart: HelmChart): boolean => {
      const { name, targetNamespace } = namesOf(chart);
      return name === release && targetNamespace === object.metadata.namespace;
    };
    return charts.cache.list().filter(isOf).map(keyOf);
  };
  const loop = manager
    .controller({
      name: 'helm-chart',
      concurrency,
      reconcile: (key, signal) => reconcileChart(parts, key, signal),
    })
    .watch(charts)
    .watch(configs as never)
    .watchMapped(jobs, chartOf)
    .watchMapped(pods, chartOf)
    .watchMapped(secrets, (secret) => [...usersOf('Secret', secret), ...withRelease(secret)])
    .watchMapped(configMaps, (map) => [...usersOf('ConfigMap', map), ...withRelease(map)])
    .watchMapped(namespaces, ({ metadata }) =>
      metadata.deletionTimestamp === undefined ? [] : charts.cache.list(metadata.name ?? '').map(keyOf),
    );
  const listening = host?.bundles.onChange(() => {
    for (const chart of charts.cache.list()) loop.queue.add(keyOf(chart));
  });
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(listening?.dispose()) });
}
