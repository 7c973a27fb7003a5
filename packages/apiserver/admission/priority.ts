import { asJson, type KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { ensureObject, flagAt, integerAt, objectAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { isFor, refusal } from './refusal.ts';

const pods = { group: '', resource: 'pods' };
const classResource = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

/** Pods get the number that their priority class stands for; there is one default class at most. */
export function priorityPlugin(views: LiveViews): AdmissionPlugin {
  const classes = views.of('scheduling.k8s.io', 'priorityclasses');
  return {
    name: 'Priority',
    handles: (request) =>
      request.object !== undefined &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      (isFor(request, pods) || isFor(request, classResource)),
    mutate(request) {
      const { object, oldObject } = request;
      if (!object || !isFor(request, pods)) return;
      const spec = ensureObject(asJson(object), 'spec');
      if (oldObject) keepPriority(spec, objectAt(oldObject, 'spec'));
      else setPriority(request, spec, classes);
    },
    validate(request) {
      if (isFor(request, classResource)) checkDefault(request, classes);
    },
  };
}

/** It is given once; a client that leaves it out does not take it away. */
function keepPriority(spec: JsonObject, old: JsonObject): void {
  for (const field of ['priority', 'preemptionPolicy']) {
    if (spec[field] === undefined && old[field] !== undefined) spec[field] = old[field];
  }
}

function setPriority(request: AdmissionRequest, spec: JsonObject, classes: LiveView): void {
  const found = findClass(request, textAt(spec, 'priorityClassName'), classes);
  const value = integerAt(found, 'value');
  const policy = found ? textAt(found, 'preemptionPolicy') : 'PreemptLowerPriority';
  if (found?.metadata.name) spec['priorityClassName'] = found.metadata.name;
  if (spec['priority'] !== undefined && spec['priority'] !== value) {
    throw refusal(
      request,
      `the integer value of priority (${integerAt(spec, 'priority')}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  spec['priority'] = value;
  if (policy === '') return;
  const given = textAt(spec, 'preemptionPolicy');
  if (given !== '' && given !== policy) {
    throw refusal(
      request,
      `the string value of PreemptionPolicy (${given}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec['preemptionPolicy'] = policy;
}

function findClass(request: AdmissionRequest, name: string, classes: LiveView): KubeObject | undefined {
  if (name === '') return findDefault(classes);
  const found = classes.get('', name);
  if (!found) throw refusal(request, `no PriorityClass with name ${name} was found`);
  return found;
}

function findDefault(classes: LiveView): KubeObject | undefined {
  let found: KubeObject | undefined;
  for (const candidate of classes.list()) {
    if (flagAt(candidate, 'globalDefault') !== true) continue;
    if (!found || integerAt(candidate, 'value') < integerAt(found, 'value')) found = candidate;
  }
  return found;
}

function checkDefault(request: AdmissionRequest, classes: LiveView): void {
  const { object, operation } = request;
  if (flagAt(object, 'globalDefault') !== true) return;
  const known = findDefault(classes);
  if (!known || (operation === 'UPDATE' && known.metadata.name === object?.metadata.name)) return;
  throw refusal(
    request,
    `PriorityClass ${known.metadata.name} is already marked as default. Only one default can exist`,
  );
}
