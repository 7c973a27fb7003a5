import { asJson, type KubeObject } from '@sheaf/api';
import { canonicalQuantity, type JsonObject, jsonClone, jsonEqual } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { ensureList, ensureObject, objectAt, objectsAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { isFor, refusal } from './refusal.ts';

const pods = { group: '', resource: 'pods' };

/** Pods take overhead and placement from the runtime class that they name. */
export function runtimeClassPlugin(views: LiveViews): AdmissionPlugin {
  const classes = views.of('node.k8s.io', 'runtimeclasses');
  return {
    name: 'RuntimeClass',
    handles: (request) => request.operation === 'CREATE' && isFor(request, pods),
    mutate(request) {
      const found = findClass(request, classes);
      if (!found || !request.object) return;
      const spec = ensureObject(asJson(request.object), 'spec');
      setOverhead(request, spec, found);
      setPlacement(request, spec, objectAt(found, 'scheduling'));
    },
    validate: (request) => checkOverhead(request, findClass(request, classes)),
  };
}

function findClass(request: AdmissionRequest, classes: LiveView): KubeObject | undefined {
  const name = textAt(objectAt(request.object, 'spec'), 'runtimeClassName');
  if (name === '') return undefined;
  const found = classes.get('', name);
  if (!found) throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found;
}

function overheadOf(runtimeClass: KubeObject | undefined): JsonObject | undefined {
  if (runtimeClass?.['overhead'] === undefined) return undefined;
  return objectAt(objectAt(runtimeClass, 'overhead'), 'podFixed');
}

function setOverhead(request: AdmissionRequest, spec: JsonObject, runtimeClass: KubeObject): void {
  const overhead = overheadOf(runtimeClass);
  if (!overhead) return;
  const given = objectAt(spec, 'overhead');
  if (Object.keys(given).length > 0 && !isSameList(given, overhead)) throw differs(request);
  spec['overhead'] = jsonClone(overhead);
}

function differs(request: AdmissionRequest): Error {
  return refusal(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function isSameList(a: JsonObject, b: JsonObject): boolean {
  return jsonEqual(canonical(a), canonical(b));
}

function canonical(list: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(list).map((key) => [key, canonicalQuantity(textAt(list, key))]));
}

function setPlacement(request: AdmissionRequest, spec: JsonObject, scheduling: JsonObject): void {
  const wanted = objectAt(scheduling, 'nodeSelector');
  const given = objectAt(spec, 'nodeSelector');
  for (const key of Object.keys(wanted)) {
    const [own, other] = [textAt(wanted, key), given[key]];
    if (other !== undefined && other !== own) {
      throw refusal(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${own}; pod.spec.nodeSelector[${key}] = ${textAt(given, key)}`,
      );
    }
  }
  if (Object.keys(wanted).length > 0) spec['nodeSelector'] = { ...given, ...wanted };
  for (const toleration of objectsAt(scheduling, 'tolerations')) {
    const known = ensureList(spec, 'tolerations');
    if (!known.some((item) => jsonEqual(item, toleration))) known.push(jsonClone(toleration));
  }
}

function checkOverhead(request: AdmissionRequest, runtimeClass: KubeObject | undefined): void {
  const given = objectAt(request.object, 'spec')['overhead'];
  const overhead = overheadOf(runtimeClass);
  if (overhead && !isSameList(objectAt({ given }, 'given'), overhead)) throw differs(request);
  if (!overhead && given !== undefined)
    throw refusal(
      request,
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    );
}
