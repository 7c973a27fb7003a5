import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonValue } from '@sheaf/base';
import { ageCell, type CellSource, isAbsent, nameOf, or, shaped } from './cell-source.ts';

interface MetricValue {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number | null;
}

interface MetricPart {
  readonly name?: string;
  readonly target?: MetricValue;
  readonly current?: MetricValue;
}

type Metric = { readonly type: string } & { readonly [part: string]: MetricPart | string | undefined };

interface Autoscaler {
  readonly spec?: {
    readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
    readonly minReplicas?: number | null;
    readonly maxReplicas?: number;
    readonly metrics?: readonly Metric[] | null;
    readonly targetCPUUtilizationPercentage?: number | null;
  };
  readonly status?: {
    readonly currentReplicas?: number;
    readonly currentMetrics?: readonly Metric[] | null;
    readonly currentCPUUtilizationPercentage?: number | null;
  };
}

const unknown = '<unknown>';
const shownMetrics = 2;

export const autoscalerCells: CellSource = (object, now) => {
  const { spec, status } = shaped<Autoscaler>(object);
  return cellsOf(object, now, { specs: spec?.metrics ?? [], statuses: status?.currentMetrics ?? [] });
};

/** Version 1 has a field for the processor alone; what else there is stands in annotations. */
export const firstAutoscalerCells: CellSource = (object, now) => {
  const { spec, status } = shaped<Autoscaler>(object);
  return cellsOf(object, now, {
    specs: firstVersionMetrics(object, 'metrics', spec?.targetCPUUtilizationPercentage),
    statuses: firstVersionStatuses(object, status?.currentCPUUtilizationPercentage),
  });
};

function cellsOf(object: KubeObject, now: number, metrics: Metrics): ReturnType<CellSource> {
  const { spec, status } = shaped<Autoscaler>(object);
  const target = spec?.scaleTargetRef;
  return [
    nameOf(object),
    `${or(target?.kind, '')}/${or(target?.name, '')}`,
    metricsCell(metrics),
    isAbsent(spec?.minReplicas) ? '<unset>' : `${spec.minReplicas}`,
    or(spec?.maxReplicas, 0),
    or(status?.currentReplicas, 0),
    ageCell(object, now),
  ];
}

interface Metrics {
  readonly specs: readonly Metric[];
  readonly statuses: readonly Metric[];
}

function firstVersionMetrics(
  object: KubeObject,
  annotation: string,
  utilization: number | null | undefined,
): readonly Metric[] {
  const others = parseList(object.metadata.annotations?.[`autoscaling.alpha.kubernetes.io/${annotation}`]);
  const metrics = others.flatMap((metric) => fromFirstVersion(metric) ?? []);
  if (isAbsent(utilization)) return metrics;
  const value = { averageUtilization: utilization };
  return [{ type: 'Resource', resource: { name: 'cpu', target: value, current: value } }, ...metrics];
}

/** The annotation tells all of them. */
function firstVersionStatuses(object: KubeObject, utilization: number | null | undefined): readonly Metric[] {
  const told = firstVersionMetrics(object, 'current-metrics', undefined);
  return told.length > 0 ? told : firstVersionMetrics(object, '', utilization);
}

/** Annotations are free text: one that cannot be read tells nothing. */
function parseList(text: string | undefined): readonly JsonValue[] {
  if (text === undefined) return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? (list as JsonValue[]) : [];
  } catch {
    return [];
  }
}

function fromFirstVersion(metric: JsonValue): Metric | undefined {
  if (!isJsonObject(metric) || typeof metric['type'] !== 'string') return undefined;
  const { type } = metric;
  const part = metric[partName(type)];
  if (!isJsonObject(part)) return { type };
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => part[name]).find((value) => typeof value === 'string');
  const utilization = part['targetAverageUtilization'] ?? part['currentAverageUtilization'];
  const value: MetricValue = {
    ...given('value', first('targetValue', 'currentValue')),
    ...given('averageValue', first('targetAverageValue', 'currentAverageValue', 'averageValue')),
    ...given('averageUtilization', typeof utilization === 'number' ? utilization : undefined),
  };
  return { type, [partName(type)]: { name: first('name') ?? '', target: value, current: value } };
}

function given<Key extends keyof MetricValue>(key: Key, value: MetricValue[Key]): MetricValue {
  return value === undefined ? {} : { [key]: value };
}

function metricsCell({ specs, statuses }: Metrics): string {
  if (specs.length === 0) return '<none>';
  const list = specs.map((spec, index) => metricCell(spec, statuses[index]));
  const text = list.slice(0, shownMetrics).join(', ');
  return list.length > shownMetrics ? `${text} + ${list.length - shownMetrics} more...` : text;
}

function metricCell(spec: Metric, status: Metric | undefined): string {
  switch (spec.type) {
    case 'External':
    case 'Object':
      return valueCell(spec, status);
    case 'Pods': {
      const current = partOf(status, 'Pods')?.current;
      return `${current ? or(current.averageValue, '0') : unknown}/${or(partOf(spec, 'Pods')?.target?.averageValue, '0')}`;
    }
    case 'Resource':
    case 'ContainerResource':
      return resourceCell(spec, status);
    default:
      return '<unknown type>';
  }
}

function valueCell(spec: Metric, status: Metric | undefined): string {
  const target = partOf(spec, spec.type)?.target;
  const part = partOf(status, spec.type);
  if (target?.averageValue !== undefined)
    return `${part?.current?.averageValue ?? unknown}/${target.averageValue} (avg)`;
  return `${part ? or(part.current?.value, '0') : unknown}/${or(target?.value, '0')}`;
}

function resourceCell(spec: Metric, status: Metric | undefined): string {
  const { name = '', target } = partOf(spec, spec.type) ?? {};
  const current = partOf(status, spec.type)?.current;
  if (target?.averageValue !== undefined) {
    // Without a measurement the quantity is nil, and printed as such.
    const shown = current ? or(current.averageValue, '<nil>') : unknown;
    return `${name}: ${shown}/${target.averageValue}`;
  }
  return `${name}: ${percentOf(current, unknown)}/${percentOf(target, '<auto>')}`;
}

function percentOf(value: MetricValue | undefined, absent: string): string {
  const percent = value?.averageUtilization;
  return isAbsent(percent) ? absent : `${percent}%`;
}

function partOf(metric: Metric | undefined, type: string): MetricPart | undefined {
  const part = metric?.[partName(type)];
  if (typeof part !== 'object') return undefined;
  // External, pods and object metrics have their name inside `metric`, which no cell shows.
  return part;
}

function partName(type: string): string {
  return type.slice(0, 1).toLowerCase() + type.slice(1);
}
