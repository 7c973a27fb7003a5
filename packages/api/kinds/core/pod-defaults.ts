import type { JsonObject } from '@sheaf/base';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '@sheaf/base';
import {
  ensureAt,
  fieldsAt,
  fill,
  fillText,
  isEmptyObject,
  isTrueAt,
  listAt,
  mapAt,
  objectAt,
} from '../fields.ts';
import { roundRequirements, roundResources } from '../resource-list.ts';
import { defaultContainer } from './container-defaults.ts';
import { defaultVolume } from './volume-defaults.ts';

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** What is filled in wherever a pod's spec is: in pods and in templates. */
export function defaultPodSpec(spec: JsonObject): void {
  fillText(spec, 'dnsPolicy', 'ClusterFirst');
  fillText(spec, 'restartPolicy', 'Always');
  fill(spec, 'securityContext', {});
  fill(spec, 'terminationGracePeriodSeconds', 30);
  fillText(spec, 'schedulerName', 'default-scheduler');
  if (spec['serviceAccountName'] && !spec['serviceAccount'])
    spec['serviceAccount'] = spec['serviceAccountName'];
  else if (spec['serviceAccount'] && !spec['serviceAccountName'])
    spec['serviceAccountName'] = spec['serviceAccount'];
  for (const volume of listAt(spec, 'volumes')) defaultVolume(volume);
  for (const list of containerLists) for (const item of listAt(spec, list)) defaultContainer(item);
  roundResources(spec, 'overhead');
  const resources = objectAt(spec, 'resources');
  if (resources !== undefined) roundRequirements(resources);
}

/** The template of a workload; made where it is absent. */
export function defaultTemplate(parent: JsonObject): void {
  const template = ensureAt(parent, 'template');
  defaultPodSpec(ensureAt(template, 'spec'));
}

/** What is filled in only in pods themselves. */
export function defaultPodOnly(spec: JsonObject): void {
  for (const list of ['containers', 'initContainers'] as const) {
    for (const container of listAt(spec, list)) requestLimits(container);
  }
  defaultPodResources(spec);
  fill(spec, 'enableServiceLinks', true);
  if (isTrueAt(spec, 'hostNetwork')) for (const list of containerLists.slice(0, 2)) exposePorts(spec, list);
}

/** What is limited and not requested is requested up to its limit. */
function requestLimits(container: JsonObject): void {
  const resources = fieldsAt(container, 'resources');
  const limits = objectAt(resources, 'limits');
  if (limits === undefined || isEmptyObject(limits)) return;
  const requests = ensureAt(resources, 'requests');
  for (const key of Object.keys(limits)) {
    const limit = limits[key];
    if (limit !== undefined) fill(requests, key, limit);
  }
}

function exposePorts(spec: JsonObject, list: string): void {
  for (const container of listAt(spec, list)) {
    for (const port of listAt(container, 'ports')) {
      if (!port['hostPort'] && port['containerPort']) port['hostPort'] = port['containerPort'];
    }
  }
}

function isPodLevel(resource: string): boolean {
  return resource === 'cpu' || resource === 'memory' || resource.startsWith('hugepages-');
}

/** Requests of the whole pod follow from those of its containers, then from its limits. */
function defaultPodResources(spec: JsonObject): void {
  const resources = objectAt(spec, 'resources');
  if (resources === undefined) return;
  const limits = mapAt(resources, 'limits');
  if (Object.keys(limits).length === 0) return;
  const requests: JsonObject = { ...fieldsAt(resources, 'requests') };
  const sums = aggregateRequests(spec);
  for (const [key, amount] of sums) {
    if (isPodLevel(key) && !key.startsWith('hugepages-')) fill(requests, key, amount);
  }
  for (const [key, limit] of Object.entries(limits)) if (isPodLevel(key)) fill(requests, key, limit);
  if (!isEmptyObject(requests)) resources['requests'] = requests;
}

type Amounts = Map<string, string>;

function add(to: Amounts, amounts: Readonly<Record<string, string>>): void {
  for (const [key, amount] of Object.entries(amounts)) {
    const known = to.get(key);
    to.set(
      key,
      known === undefined
        ? amount
        : formatQuantity(addQuantities(parseQuantity(known), parseQuantity(amount))),
    );
  }
}

function raise(to: Amounts, amounts: Amounts): void {
  for (const [key, amount] of amounts) {
    const known = to.get(key);
    if (known === undefined || compareQuantities(parseQuantity(known), parseQuantity(amount)) < 0)
      to.set(key, amount);
  }
}

/** The sum of all containers, or what an init container needs at once where that is more. */
function aggregateRequests(spec: JsonObject): Amounts {
  const total: Amounts = new Map();
  for (const container of listAt(spec, 'containers'))
    add(total, mapAt(fieldsAt(container, 'resources'), 'requests'));
  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const container of listAt(spec, 'initContainers')) {
    const requests = mapAt(fieldsAt(container, 'resources'), 'requests');
    const now: Amounts = new Map(sidecars);
    add(now, requests);
    if (container['restartPolicy'] === 'Always') {
      add(total, requests);
      add(sidecars, requests);
    }
    raise(peak, now);
  }
  raise(total, peak);
  return total;
}
