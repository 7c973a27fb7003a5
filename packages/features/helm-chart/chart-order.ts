import type { HelmChart, HelmChartConfig, HelmChartSpec } from '@sheaf/api/virtualization/index';
import type { OperationKind } from './chart-job.ts';
import { namesOf } from './chart-names.ts';

interface Variable {
  readonly name: string;
  readonly value: string;
}

/** The arguments of an operation, in the words of klipper-helm. */
export function argumentsOf(
  { spec = {} }: HelmChart,
  config: HelmChartConfig | undefined,
  kind: OperationKind,
): readonly string[] {
  if (kind === 'delete') return ['delete'];
  return [
    'install',
    ...(spec.targetNamespace ? ['--namespace', spec.targetNamespace] : []),
    ...(spec.createNamespace ? ['--create-namespace'] : []),
    ...(spec.takeOwnership ? ['--take-ownership'] : []),
    ...applyArguments(spec, config),
    ...(spec.version ? ['--version', spec.version] : []),
    ...setArguments(spec.set),
  ];
}

function applyArguments(spec: HelmChartSpec, config: HelmChartConfig | undefined): readonly string[] {
  const serverSide = config?.spec?.serverSide ?? spec.serverSide;
  const forcesConflicts = config?.spec?.forceConflicts ?? spec.forceConflicts;
  return [
    ...(serverSide === undefined ? [] : [`--server-side=${serverSide}`]),
    ...(forcesConflicts ? ['--force-conflicts'] : []),
  ];
}

/** What looks like a number, a truth value or nothing is one; a text has its commas escaped. */
export function setArguments(set: Readonly<Record<string, number | string>> = {}): readonly string[] {
  return Object.entries(set)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => {
      const text = String(value);
      const isPlain = /^(?:-?\d+|true|false|null)$/.test(text);
      if (isPlain) return ['--set', `${key}=${text}`];
      return ['--set-string', `${key}=${text.replaceAll(/(?<!\\),/g, '\\,')}`];
    });
}

/** The variables of an operation, likewise. */
export function variablesOf(chart: HelmChart, config: HelmChartConfig | undefined): readonly Variable[] {
  const { spec = {} } = chart;
  const { namespace, name, targetNamespace } = namesOf(chart);
  const truth = (value: boolean | undefined): string => String(value === true);
  return [
    { name: 'NAME', value: name },
    ...sourceVariables(spec),
    { name: 'HELM_DRIVER', value: spec.driver ?? 'secret' },
    { name: 'CHART_NAMESPACE', value: namespace },
    { name: 'HELM_VERSION', value: spec.helmVersion ?? '' },
    { name: 'TARGET_NAMESPACE', value: targetNamespace },
    { name: 'AUTH_PASS_CREDENTIALS', value: truth(spec.authPassCredentials) },
    { name: 'INSECURE_SKIP_TLS_VERIFY', value: truth(spec.insecureSkipTLSVerify) },
    { name: 'PLAIN_HTTP', value: truth(spec.plainHTTP) },
    { name: 'FAILURE_POLICY', value: policyOf(chart, config) },
    ...(spec.timeout ? [{ name: 'TIMEOUT', value: spec.timeout }] : []),
    ...(spec.bootstrap ? [{ name: 'BOOTSTRAP', value: 'true' }] : []),
  ];
}

function sourceVariables({
  chart = '',
  repo = '',
  version = '',
}: Pick<HelmChartSpec, 'chart' | 'repo' | 'version'>): readonly Variable[] {
  return [
    { name: 'VERSION', value: version },
    { name: 'REPO', value: repo },
    { name: 'CHART', value: chart },
  ];
}

function policyOf({ spec }: HelmChart, config: HelmChartConfig | undefined): string {
  return config?.spec?.failurePolicy ?? spec?.failurePolicy ?? 'reinstall';
}
