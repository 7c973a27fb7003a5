import type { JsonObject } from '@sheaf/base';
import { asJson, type KubeObject } from '../../meta/object.ts';
import {
  ensureAt,
  ensureSpec,
  fieldsAt,
  fill,
  fillText,
  isEmptyObject,
  listAt,
  mapAt,
  objectAt,
  specOf,
} from '../fields.ts';
import { roundResources } from '../resource-list.ts';
import { defaultPodSpec, defaultTemplate } from './pod-defaults.ts';
import { defaultPersistentSource } from './volume-defaults.ts';

export function defaultPersistentVolume(volume: KubeObject): void {
  fillText(ensureAt(asJson(volume), 'status'), 'phase', 'Pending');
  const spec = ensureSpec(volume);
  fillText(spec, 'persistentVolumeReclaimPolicy', 'Retain');
  fill(spec, 'volumeMode', 'Filesystem');
  defaultPersistentSource(spec);
  roundResources(spec, 'capacity');
}

export function defaultReplicationController(controller: KubeObject): void {
  const spec = ensureSpec(controller);
  const template = objectAt(spec, 'template');
  if (template !== undefined) {
    const labels = mapAt(fieldsAt(template, 'metadata'), 'labels');
    if (Object.keys(labels).length > 0) inheritLabels(controller, spec, labels);
    defaultTemplate(spec);
  }
  fill(spec, 'replicas', 1);
}

function inheritLabels(
  controller: KubeObject,
  spec: JsonObject,
  labels: Readonly<Record<string, string>>,
): void {
  if (isEmptyObject(fieldsAt(spec, 'selector'))) spec['selector'] = { ...labels };
  const own = controller.metadata.labels;
  if (own === undefined || Object.keys(own).length === 0) controller.metadata.labels = { ...labels };
}

export function defaultPodTemplate(template: KubeObject): void {
  const inner = ensureAt(asJson(template), 'template');
  defaultPodSpec(ensureAt(inner, 'spec'));
}

export function defaultEndpoints(endpoints: KubeObject): void {
  for (const subset of listAt(asJson(endpoints), 'subsets')) {
    for (const port of listAt(subset, 'ports')) fillText(port, 'protocol', 'TCP');
  }
}

export function defaultNode(node: KubeObject): void {
  const status = ensureAt(asJson(node), 'status');
  roundResources(status, 'capacity', 'allocatable');
  const capacity = objectAt(status, 'capacity');
  if (capacity !== undefined && status['allocatable'] === undefined) status['allocatable'] = { ...capacity };
  const spec = ensureSpec(node);
  // The list is the newer form of the single field.
  const list = spec['podCIDRs'];
  if (spec['podCIDR'] && list === undefined) spec['podCIDRs'] = [spec['podCIDR']];
  else if (Array.isArray(list) && list[0] !== undefined && !spec['podCIDR']) spec['podCIDR'] = list[0];
}

export function defaultLimitRange(limitRange: KubeObject): void {
  for (const item of listAt(specOf(limitRange), 'limits')) {
    roundResources(item, 'max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio');
    if (item['type'] === 'Container') defaultContainerLimits(item);
  }
}

function defaultContainerLimits(item: JsonObject): void {
  const limits = ensureAt(item, 'default');
  const requests = ensureAt(item, 'defaultRequest');
  fillFrom(limits, fieldsAt(item, 'max'));
  fillFrom(requests, limits);
  fillFrom(requests, fieldsAt(item, 'min'));
  if (isEmptyObject(limits)) delete item['default'];
  if (isEmptyObject(requests)) delete item['defaultRequest'];
}

function fillFrom(to: JsonObject, from: JsonObject): void {
  for (const key of Object.keys(from)) {
    const value = from[key];
    if (value !== undefined) fill(to, key, value);
  }
}

export function defaultResourceQuota(quota: KubeObject): void {
  roundResources(ensureSpec(quota), 'hard');
  roundResources(fieldsAt(asJson(quota), 'status'), 'hard', 'used');
}

/** When a volume came into its first phase. */
export function startVolume(volume: KubeObject): void {
  const now = volume.metadata.creationTimestamp;
  asJson(volume)['status'] = { phase: 'Pending', ...(now ? { lastPhaseTransitionTime: now } : {}) };
}
