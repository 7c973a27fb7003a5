import { identityOf } from '@sheaf/api';
import { addonDefaultsAnnotation, retryAnnotation } from '@sheaf/api/addon/index';
import type { Addon, HelmChart, HelmChartSpec } from '@sheaf/api/virtualization/index';

const tries = 5;

/** The values that count: its own, else those that it was published with. `undefined`: those cannot be read. */
export function valuesOf({ metadata, spec }: Addon): string | undefined {
  if (spec.valuesContent !== '') return spec.valuesContent;
  const encoded = metadata.annotations?.[addonDefaultsAnnotation] ?? '';
  const text = Buffer.from(encoded, 'base64');
  const isBase64 = text.toString('base64').replace(/=+$/, '') === encoded.trim().replace(/=+$/, '');
  return isBase64 ? text.toString('utf8') : undefined;
}

/** What the chart of an add-on says, of what the add-on decides. */
export function chartFields(addon: Addon, valuesContent: string): HelmChartSpec {
  const { chart, repo, version } = addon.spec;
  return { chart, repo, version, valuesContent };
}

export function chartOf(addon: Addon, valuesContent: string): HelmChart {
  const { namespace, name } = identityOf(addon);
  return {
    metadata: { namespace, name, annotations: retryOf(addon), ownerReferences: [ownerReference(addon)] },
    spec: { ...chartFields(addon, valuesContent), backOffLimit: tries },
  };
}

/** The chart as the add-on wants it; what others have set beside stays. `undefined`: it is so. */
export function changedChart(chart: HelmChart, addon: Addon, valuesContent: string): HelmChart | undefined {
  const wanted = chartFields(addon, valuesContent);
  const { spec = {}, metadata } = chart;
  const isSame = (Object.keys(wanted) as (keyof HelmChartSpec)[]).every(
    (field) => (spec[field] ?? '') === (wanted[field] ?? ''),
  );
  const retry = retryOf(addon);
  const isTried = metadata.annotations?.[retryAnnotation] === retry[retryAnnotation];
  if (isSame && (isTried || retry[retryAnnotation] === undefined)) return undefined;
  return {
    ...chart,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...retry } },
    spec: { ...spec, ...wanted },
  };
}

/** One that is being uninstalled, with another try of that; `undefined`: nobody wants one. */
export function retriedChart(chart: HelmChart, addon: Addon): HelmChart | undefined {
  const { metadata } = chart;
  const retry = retryOf(addon);
  const text = retry[retryAnnotation];
  if (text === undefined || metadata.annotations?.[retryAnnotation] === text) return undefined;
  return { ...chart, metadata: { ...metadata, annotations: { ...metadata.annotations, ...retry } } };
}

function retryOf({ metadata }: Addon): Readonly<Record<string, string>> {
  const retry = metadata.annotations?.[retryAnnotation];
  return retry === undefined ? {} : { [retryAnnotation]: retry };
}

function ownerReference(addon: Addon): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
} {
  const { name, uid } = identityOf(addon);
  return { apiVersion: 'harvesterhci.io/v1beta1', kind: 'Addon', name, uid };
}

export function isOwnedBy({ metadata }: HelmChart, { metadata: { uid } }: Addon): boolean {
  return metadata.ownerReferences?.some((owner) => owner.kind === 'Addon' && owner.uid === uid) === true;
}

/** Nobody's, and of the same chart: what an add-on that was deleted alone has left. It is taken on again. */
export function isOrphanOf(chart: HelmChart, { spec }: Addon): boolean {
  return (chart.metadata.ownerReferences ?? []).length === 0 && chart.spec?.chart === spec.chart;
}

/** It is being uninstalled for an add-on of the same name that is gone: this one's waits for that, and may have it tried again. */
export function isLeftOf({ metadata }: HelmChart, addon: Addon): boolean {
  const isOfEarlier = metadata.ownerReferences?.some(
    ({ kind, name, uid }) => kind === 'Addon' && name === addon.metadata.name && uid !== addon.metadata.uid,
  );
  return metadata.deletionTimestamp !== undefined && isOfEarlier === true;
}

export function adopted(chart: HelmChart, addon: Addon): HelmChart {
  return { ...chart, metadata: { ...chart.metadata, ownerReferences: [ownerReference(addon)] } };
}
