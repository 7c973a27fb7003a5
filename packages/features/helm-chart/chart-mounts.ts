import type { HelmChart, HelmChartConfig } from '@sheaf/api/virtualization/index';
import type { PodTemplateSpec } from '@sheaf/api/workload/index';
import { namesOf } from './chart-names.ts';
import { valuesSources } from './chart-values.ts';

/** A volume of an operation, and where the operation finds it. */
interface Mounted {
  readonly mountPath: string;
  readonly volume: NonNullable<PodTemplateSpec['spec']['volumes']>[number];
}

/** Values, chart, credentials and authorities, in the places of klipper-helm. */
export function mountsOf(chart: HelmChart, config: HelmChartConfig | undefined): readonly Mounted[] {
  const { content } = namesOf(chart);
  const { authSecret, chartContent } = chart.spec ?? {};
  return [
    ...mounted('values', '/config', { projected: { sources: valuesSources(chart, config) } }),
    ...mounted('content', '/chart', chartContent ? { configMap: { name: content } } : undefined),
    ...mounted('auth', '/auth', authSecret?.name ? { secret: { secretName: authSecret.name } } : undefined),
    ...mounted('docker', '/home/klipper-helm/.docker', loginOf(chart)),
    ...mounted('authorities', '/ca-files', authoritiesOf(chart)),
  ];
}

function mounted(
  name: string,
  mountPath: string,
  source: Omit<Mounted['volume'], 'name'> | undefined,
): readonly Mounted[] {
  return source ? [{ mountPath, volume: { name, ...source } }] : [];
}

function loginOf({ spec }: HelmChart): Omit<Mounted['volume'], 'name'> | undefined {
  const secretName = spec?.dockerRegistrySecret?.name;
  if (!secretName) return undefined;
  return { secret: { secretName, items: [{ key: '.dockerconfigjson', path: 'config.json' }] } };
}

function authoritiesOf(chart: HelmChart): Omit<Mounted['volume'], 'name'> | undefined {
  const { repoCA, repoCAConfigMap } = chart.spec ?? {};
  const own = { name: namesOf(chart).values, items: [{ key: 'RepoCA', path: 'RepoCA.pem' }] };
  const sources = [
    ...(repoCA ? [{ secret: own }] : []),
    ...(repoCAConfigMap?.name ? [{ configMap: { name: repoCAConfigMap.name } }] : []),
  ];
  return sources.length > 0 ? { projected: { sources } } : undefined;
}
