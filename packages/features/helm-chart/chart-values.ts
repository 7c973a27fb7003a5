import type { KubeObject } from '@sheaf/api';
import type { HelmChart, HelmChartConfig, ValuesSecret } from '@sheaf/api/virtualization/index';
import { namesOf } from './chart-names.ts';

/** What the values of a chart and its configuration are made of; `undefined` parts are left out. */
interface OwnValues {
  readonly valuesContent?: string;
  readonly values?: unknown;
  readonly valuesSecrets?: readonly ValuesSecret[];
}

/** The data of the Secret with the values of a chart, as plain texts. */
export function valuesData(
  chart: HelmChart,
  config: HelmChartConfig | undefined,
): Readonly<Record<string, string>> {
  const { repoCA } = chart.spec ?? {};
  return {
    ...dataOf('HelmChart', chart.spec),
    ...dataOf('HelmChartConfig', config?.spec),
    ...(repoCA ? { RepoCA: repoCA } : {}),
  };
}

function dataOf(prefix: string, { valuesContent, values }: OwnValues = {}): Readonly<Record<string, string>> {
  return {
    ...(valuesContent ? { [`${prefix}ValuesContent`]: valuesContent } : {}),
    // JSON is YAML.
    ...(values === undefined || values === null ? {} : { [`${prefix}Values`]: JSON.stringify(values) }),
  };
}

interface SecretSource {
  readonly secret: {
    readonly name: string;
    readonly optional?: boolean;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
}

/** Where the values are found by the operation: later names override earlier ones. */
export function valuesSources(
  chart: HelmChart,
  config: HelmChartConfig | undefined,
): readonly SecretSource[] {
  const { values } = namesOf(chart);
  const data = valuesData(chart, config);
  const parts = [
    sourcesOf({ level: 0, prefix: 'HelmChart', own: chart.spec, data, secretName: values }),
    sourcesOf({ level: 1, prefix: 'HelmChartConfig', own: config?.spec, data, secretName: values }),
  ];
  return parts.flat();
}

interface SourceFacts {
  readonly level: number;
  readonly prefix: string;
  readonly own: OwnValues | undefined;
  readonly data: Readonly<Record<string, string>>;
  readonly secretName: string;
}

function sourcesOf({ level, prefix, own, data, secretName }: SourceFacts): readonly SecretSource[] {
  let count = 0;
  const pathOf = (kind: string): string =>
    `values-${level}-${String(count++).padStart(3, '0')}-${prefix}-${kind}.yaml`;
  const items = ['ValuesContent', 'Values'].flatMap((kind) => {
    const path = pathOf(kind);
    return data[`${prefix}${kind}`] === undefined ? [] : [{ key: `${prefix}${kind}`, path }];
  });
  const further = (own?.valuesSecrets ?? [])
    .filter(({ name, keys = [] }) => name !== undefined && keys.length > 0 && name !== secretName)
    .map(({ name = '', keys = [], ignoreUpdates }) => ({
      secret: {
        name,
        ...(ignoreUpdates ? { optional: true } : {}),
        items: keys.map((key) => ({ key, path: pathOf('ValuesSecret') })),
      },
    }));
  return [...(items.length > 0 ? [{ secret: { name: secretName, items } }] : []), ...further];
}

/** A Secret or ConfigMap that a chart refers to. */
export interface Reference {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly keys: readonly string[];
  /** It may be missing, and its changes make no new operation. */
  readonly isOptional: boolean;
  /** The field that names it. */
  readonly field: string;
}

export function referencesOf(chart: HelmChart, config: HelmChartConfig | undefined): readonly Reference[] {
  const { authSecret, dockerRegistrySecret, repoCAConfigMap } = chart.spec ?? {};
  const named = (kind: Reference['kind'], field: string, name: string | undefined): readonly Reference[] =>
    name ? [{ kind, field, name, keys: [], isOptional: false }] : [];
  return [
    ...secretReferences(chart.spec),
    ...secretReferences(config?.spec),
    ...named('Secret', 'authSecret', authSecret?.name),
    ...named('Secret', 'dockerRegistrySecret', dockerRegistrySecret?.name),
    ...named('ConfigMap', 'repoCAConfigMap', repoCAConfigMap?.name),
  ];
}

function secretReferences({ valuesSecrets = [] }: OwnValues = {}): readonly Reference[] {
  return valuesSecrets
    .filter(({ name, keys = [] }) => name !== undefined && keys.length > 0)
    .map(({ name = '', keys = [], ignoreUpdates = false }) => ({
      kind: 'Secret',
      field: 'valuesSecrets',
      name,
      keys,
      isOptional: ignoreUpdates,
    }));
}

/** What keeps a reference from being used; `undefined` if nothing does. */
export function problemOf(
  { kind, name, keys, isOptional, field }: Reference,
  found: KubeObject | undefined,
): string | undefined {
  if (isOptional) return undefined;
  if (!found) return `${field} names the ${kind} ${name}, which is not there`;
  const data = (found['data'] ?? {}) as Readonly<Record<string, unknown>>;
  const missing = keys.filter((key) => data[key] === undefined);
  return missing.length === 0 ? undefined : `the ${kind} ${name} has no ${missing.join(', ')}`;
}
