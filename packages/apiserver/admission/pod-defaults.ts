import { asJson } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { ensureList, ensureObject, objectsAt, textAt } from './object-field.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { isFor } from './refusal.ts';

const pods = { group: '', resource: 'pods' };
const nodes = { group: '', resource: 'nodes' };
const tolerationSeconds = 300;
const nodeConditions = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Pods stay for some minutes on a node that has gone missing. */
export function defaultTolerations(): AdmissionPlugin {
  return {
    name: 'DefaultTolerationSeconds',
    handles: (request) =>
      request.object !== undefined &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      isFor(request, pods),
    mutate({ object }) {
      if (!object) return;
      const spec = ensureObject(asJson(object), 'spec');
      const missing = nodeConditions.filter(
        (key) => !objectsAt(spec, 'tolerations').some((item) => tolerates(item, key)),
      );
      for (const key of missing)
        ensureList(spec, 'tolerations').push({
          key,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds,
        });
    },
  };
}

function tolerates(toleration: JsonObject, key: string): boolean {
  return (
    [key, ''].includes(textAt(toleration, 'key')) && ['NoExecute', ''].includes(textAt(toleration, 'effect'))
  );
}

/** A node gets no pods before it has said that it is ready. */
export function taintNewNodes(): AdmissionPlugin {
  const key = 'node.kubernetes.io/not-ready';
  return {
    name: 'TaintNodesByCondition',
    handles: (request) => request.operation === 'CREATE' && isFor(request, nodes),
    mutate({ object }) {
      if (!object) return;
      const taints = ensureList(ensureObject(asJson(object), 'spec'), 'taints');
      if (!taints.some((taint) => taint['key'] === key && taint['effect'] === 'NoSchedule'))
        taints.push({ key, effect: 'NoSchedule' });
    },
  };
}
