import { isJsonObject, type JsonObject, type JsonValue, StatusError } from '@sheaf/base';
import { findGoKind } from '../../builtin/kinds.ts';
import { conform } from '../../codec/conform.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { ensureAt, ensureSpec, fieldsAt, listAt, numberAt, objectAt } from '../fields.ts';
import type { KindConversion } from '../kind-rules.ts';
import { annotatedBehavior, behaviorOf } from './behavior-form.ts';
import { newerMetric, newerMetricStatus, olderMetric, olderMetricStatus } from './metric-forms.ts';

const metricsKey = 'autoscaling.alpha.kubernetes.io/metrics';
const behaviorKey = 'autoscaling.alpha.kubernetes.io/behavior';
const statusesKey = 'autoscaling.alpha.kubernetes.io/current-metrics';
const conditionsKey = 'autoscaling.alpha.kubernetes.io/conditions';
const roundTripKeys = [metricsKey, behaviorKey, statusesKey, conditionsKey] as const;
const keptKind = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' };

/** autoscaling/v1 has one CPU target; all else of v2 travels in annotations. Both change their argument. */
export const autoscalerConversion: KindConversion = {
  storage: { group: 'autoscaling', version: 'v2' },
  toStorage: toNewer,
  fromStorage: toOlder,
};

function isCpuUtilization(metric: JsonObject): boolean {
  const source = objectAt(metric, 'resource');
  return (
    metric['type'] === 'Resource' &&
    source?.['name'] === 'cpu' &&
    fieldsAt(source, 'target')['averageUtilization'] !== undefined
  );
}

function toOlder(autoscaler: KubeObject): KubeObject {
  autoscaler.apiVersion = 'autoscaling/v1';
  const annotations: Record<string, string> = { ...autoscaler.metadata.annotations };
  for (const key of roundTripKeys) delete annotations[key];
  const spec = ensureSpec(autoscaler);
  const metrics = listAt(spec, 'metrics');
  const others = metrics.filter((metric) => !isCpuUtilization(metric));
  if (others.length > 0) annotations[metricsKey] = JSON.stringify(others.map(olderMetric));
  const behavior = objectAt(spec, 'behavior');
  if (behavior !== undefined) annotations[behaviorKey] = JSON.stringify(annotatedBehavior(behavior));
  const cpu = metrics.find(isCpuUtilization);
  delete spec['metrics'];
  delete spec['behavior'];
  if (cpu !== undefined)
    spec['targetCPUUtilizationPercentage'] = fieldsAt(fieldsAt(cpu, 'resource'), 'target')[
      'averageUtilization'
    ];
  olderStatus(ensureAt(asJson(autoscaler), 'status'), annotations);
  setAnnotations(autoscaler, annotations);
  return autoscaler;
}

function olderStatus(status: JsonObject, annotations: Record<string, string>): void {
  const metrics = listAt(status, 'currentMetrics');
  if (metrics.length > 0) annotations[statusesKey] = JSON.stringify(metrics.map(olderMetricStatus));
  const conditions = listAt(status, 'conditions');
  if (conditions.length > 0) annotations[conditionsKey] = JSON.stringify(conditions);
  const cpu = metrics.find((metric) => fieldsAt(metric, 'resource')['name'] === 'cpu');
  const utilization = cpu && numberAt(fieldsAt(fieldsAt(cpu, 'resource'), 'current'), 'averageUtilization');
  delete status['currentMetrics'];
  delete status['conditions'];
  status['currentReplicas'] ??= 0;
  status['desiredReplicas'] ??= 0;
  if (utilization !== undefined) status['currentCPUUtilizationPercentage'] = utilization;
}

function setAnnotations(autoscaler: KubeObject, annotations: Record<string, string>): void {
  if (Object.keys(annotations).length > 0) autoscaler.metadata.annotations = annotations;
  else delete autoscaler.metadata.annotations;
}

function toNewer(autoscaler: KubeObject): KubeObject {
  autoscaler.apiVersion = 'autoscaling/v2';
  const given = autoscaler.metadata.annotations ?? {};
  const annotations = { ...given };
  for (const key of roundTripKeys) delete annotations[key];
  newerSpec(ensureSpec(autoscaler), given);
  newerStatus(ensureAt(asJson(autoscaler), 'status'), given);
  setAnnotations(autoscaler, annotations);
  return autoscaler;
}

function newerSpec(spec: JsonObject, annotations: Readonly<Record<string, string>>): void {
  const target = spec['targetCPUUtilizationPercentage'];
  delete spec['targetCPUUtilizationPercentage'];
  const others = readList(annotations[metricsKey]).map(newerMetric);
  const metrics = target === undefined ? others : [...others, cpuMetric(target)];
  const fitting = fits({ metrics }) ? metrics : [];
  spec['metrics'] = fitting.length > 0 ? fitting : [cpuMetric(target ?? 80)];
  const form = readJson(annotations[behaviorKey]);
  const behavior = isJsonObject(form) ? behaviorOf(form) : undefined;
  if (behavior !== undefined && fits({ behavior })) spec['behavior'] = behavior;
}

function cpuMetric(averageUtilization: JsonValue): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function newerStatus(status: JsonObject, annotations: Readonly<Record<string, string>>): void {
  const utilization = status['currentCPUUtilizationPercentage'];
  delete status['currentCPUUtilizationPercentage'];
  const metrics = readList(annotations[statusesKey]).map(newerMetricStatus);
  const conditions = readList(annotations[conditionsKey]);
  if (metrics.length > 0 && fits({}, { currentMetrics: metrics })) status['currentMetrics'] = metrics;
  else status['currentMetrics'] = utilization === undefined ? null : [cpuStatus(utilization)];
  if (conditions.length > 0 && fits({}, { conditions })) status['conditions'] = conditions;
  if (status['currentReplicas'] === 0) delete status['currentReplicas'];
}

function cpuStatus(averageUtilization: JsonValue): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } };
}

/** Annotations are any text; what does not have the declared types counts as absent. */
function fits(spec: JsonObject, status: JsonObject = {}): boolean {
  const struct = findGoKind(keptKind);
  if (struct === undefined) return false;
  try {
    conform({ spec, status }, struct, keptKind);
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}

function readJson(text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function readList(text: string | undefined): JsonObject[] {
  const value = readJson(text);
  return Array.isArray(value) && value.every(isJsonObject) ? value : [];
}
