import { asJson, type KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { limitErrors, type Measured } from './limit-checks.ts';
import { ensureObject, objectAt, objectsAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { containerAmounts, podAmounts } from './pod-resources.ts';
import { isFor, refusal } from './refusal.ts';

const pods = { group: '', resource: 'pods' };
const resize = { ...pods, subresource: 'resize' };
const claims = { group: '', resource: 'persistentvolumeclaims' };

/** Fills in and checks what containers, pods and claims may ask for in a namespace. */
export function limitRanger(views: LiveViews): AdmissionPlugin {
  const ranges = views.of('', 'limitranges');
  return {
    name: 'LimitRanger',
    handles: (request) => isLimited(request) && ranges.list(request.namespace).length > 0,
    mutate(request) {
      if (!request.object || isFor(request, claims)) return;
      for (const range of ranges.list(request.namespace)) fillIn(request.object, range);
    },
    validate: (request) => checkAll(request, ranges),
  };
}

function isLimited(request: AdmissionRequest): boolean {
  const { operation, object, oldObject } = request;
  if (!object || oldObject?.metadata.deletionTimestamp !== undefined) return false;
  if (operation === 'CREATE') return isFor(request, pods) || isFor(request, claims);
  return operation === 'UPDATE' && (isFor(request, resize) || isFor(request, claims));
}

function limitsOf(range: KubeObject, type: string): readonly JsonObject[] {
  return objectsAt(objectAt(range, 'spec'), 'limits').filter((limit) => textAt(limit, 'type') === type);
}

const lists = [
  ['containers', 'container'],
  ['initContainers', 'init container'],
] as const;

function fillIn(pod: KubeObject, range: KubeObject): void {
  const requests: JsonObject = {};
  const limits: JsonObject = {};
  for (const limit of limitsOf(range, 'Container')) {
    Object.assign(requests, objectAt(limit, 'defaultRequest'));
    Object.assign(limits, objectAt(limit, 'default'));
  }
  const notes: string[] = [];
  for (const [list, word] of lists) {
    for (const container of objectsAt(objectAt(pod, 'spec'), list)) {
      const setRequests = fillList(container, 'requests', requests);
      const setLimits = fillList(container, 'limits', limits);
      const name = textAt(container, 'name');
      if (setRequests !== '') notes.push(`${setRequests} request for ${word} ${name}`);
      if (setLimits !== '') notes.push(`${setLimits} limit for ${word} ${name}`);
    }
  }
  if (notes.length === 0) return;
  const text = `LimitRanger plugin set: ${notes.join('; ')}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, 'kubernetes.io/limit-ranger': text };
}

/** The names that were filled in, as text. */
function fillList(container: JsonObject, which: 'requests' | 'limits', defaults: JsonObject): string {
  const known = objectAt(objectAt(container, 'resources'), which);
  const missing = Object.keys(defaults).filter((name) => known[name] === undefined);
  if (missing.length === 0) return '';
  const list = ensureObject(ensureObject(container, 'resources'), which);
  for (const name of missing) list[name] = defaults[name];
  return missing.sort().join(', ');
}

function checkAll(request: AdmissionRequest, ranges: LiveView): void {
  const { object } = request;
  if (!object) return;
  for (const range of ranges.list(request.namespace)) {
    const errors = isFor(request, claims) ? claimErrors(object, range) : podErrors(object, range);
    const [only] = errors;
    if (only !== undefined) throw refusal(request, errors.length === 1 ? only : `[${errors.join(', ')}]`);
  }
}

function claimErrors(claim: KubeObject, range: KubeObject): readonly string[] {
  const measured: Measured = {
    type: 'PersistentVolumeClaim',
    requests: containerAmounts(objectAt(asJson(claim), 'spec'), 'requests'),
    limits: undefined,
  };
  return limitsOf(range, 'PersistentVolumeClaim').flatMap((limit) => limitErrors(limit, measured));
}

function podErrors(pod: KubeObject, range: KubeObject): readonly string[] {
  const spec = objectAt(asJson(pod), 'spec');
  const containers = limitsOf(range, 'Container').flatMap((limit) =>
    lists.flatMap(([list]) =>
      objectsAt(spec, list).flatMap((container) =>
        limitErrors(limit, {
          type: 'Container',
          requests: containerAmounts(container, 'requests'),
          limits: containerAmounts(container, 'limits'),
        }),
      ),
    ),
  );
  const whole = limitsOf(range, 'Pod').flatMap((limit) =>
    limitErrors(limit, {
      type: 'Pod',
      requests: podAmounts(spec, 'requests'),
      limits: podAmounts(spec, 'limits'),
    }),
  );
  return [...new Set([...containers, ...whole])];
}
