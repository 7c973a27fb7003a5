import type { HelmChart } from '@sheaf/api/virtualization/index';
import { managerAnnotation, removalFinalizer } from './chart-names.ts';
import type { ChartFacts } from './plan.ts';

export const fresh: HelmChart = {
  metadata: { namespace: 'default', name: 'web', uid: 'chart', generation: 1 },
  spec: { chart: 'web', repo: 'http://charts.example', version: '1.0.0', valuesContent: 'a: 1' },
};
export const chart: HelmChart = {
  ...fresh,
  metadata: {
    ...fresh.metadata,
    finalizers: [removalFinalizer],
    annotations: { [managerAnnotation]: 'helm-controller' },
  },
};
export const going: HelmChart = { ...chart, metadata: { ...chart.metadata, deletionTimestamp: 'now' } };

export function withSpec(spec: HelmChart['spec'] & {}): HelmChart {
  return { ...chart, metadata: { ...chart.metadata, generation: 2 }, spec: { ...chart.spec, ...spec } };
}

export function factsOf(facts: Partial<ChartFacts> = {}): ChartFacts {
  return {
    chart,
    config: undefined,
    referred: new Map(),
    jobs: [],
    pods: [],
    isNamespaceEnding: false,
    ...facts,
  };
}

export function annotated(name: string, text: string): HelmChart {
  return {
    ...chart,
    metadata: { ...chart.metadata, annotations: { ...chart.metadata.annotations, [name]: text } },
  };
}
