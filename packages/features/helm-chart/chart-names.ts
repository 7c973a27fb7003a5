import type { HelmChart } from '@sheaf/api/virtualization/index';

/** Keeps a chart until its release is uninstalled. */
export const removalFinalizer = 'wrangler.cattle.io/on-helm-chart-remove';
/** On Jobs and pods: whose operation it is. */
export const chartLabel = 'helmcharts.helm.cattle.io/chart';
/** On the pods' template: what the operation works with. */
export const hashAnnotation = 'helmcharts.helm.cattle.io/configHash';
/** Who takes care of a chart; another one's charts are left alone. */
export const managerAnnotation = 'helmcharts.cattle.io/managed-by';
export const managerName = 'helm-controller';
/** With it, a chart is nobody's. */
export const unmanagedAnnotation = 'helmcharts.helm.cattle.io/unmanaged';

/** Somebody else takes care of it, or nobody. */
export function isOfOthers({ metadata: { annotations = {} } }: HelmChart): boolean {
  const manager = annotations[managerAnnotation];
  return unmanagedAnnotation in annotations || (manager !== undefined && manager !== managerName);
}

export interface ChartNames {
  readonly namespace: string;
  readonly name: string;
  readonly installJob: string;
  readonly deleteJob: string;
  readonly account: string;
  readonly binding: string;
  readonly values: string;
  readonly content: string;
  /** Where its release is. */
  readonly targetNamespace: string;
}

export function namesOf({ metadata, spec }: HelmChart): ChartNames {
  const { namespace = '', name = '' } = metadata;
  return {
    namespace,
    name,
    installJob: `helm-install-${name}`,
    deleteJob: `helm-delete-${name}`,
    account: `helm-${name}`,
    binding: `helm-${namespace}-${name}`,
    values: `chart-values-${name}`,
    content: `chart-content-${name}`,
    targetNamespace: spec?.targetNamespace || namespace,
  };
}
