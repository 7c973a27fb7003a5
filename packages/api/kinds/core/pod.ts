import type { JsonObject } from '@sheaf/base';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { ensureSpec, isTrueAt, listAt, objectAt, specOf, textAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { defaultPodOnly, defaultPodSpec } from './pod-defaults.ts';
import { mergePodStatus, validatePodStatusUpdate } from './pod-status.ts';
import { validatePodUpdate } from './pod-update.ts';
import { validatePod } from './pod-validation.ts';
import { podWarnings } from './pod-warnings.ts';
import { podQualityOfService } from './quality-of-service.ts';

export const podRules: KindRules = {
  tracksGeneration: true,
  applyDefaults(pod) {
    const spec = ensureSpec(pod);
    defaultPodOnly(spec);
    defaultPodSpec(spec);
    mergePodStatus(pod);
  },
  prepareForCreate: startPending,
  validateCreate: validatePod,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatusUpdate,
  selectableFields: podFields,
  warnings: (next, old) => (old === undefined ? podWarnings(next) : []),
};

/** A new pod waits; the scheduler says for what, unless it has gates. */
function startPending(pod: KubeObject): void {
  const spec = ensureSpec(pod);
  // The class depends on what containers ask for by default.
  defaultPodOnly(spec);
  const status: JsonObject = { phase: 'Pending', qosClass: podQualityOfService(spec) };
  const condition = waitingCondition(spec, pod.metadata.creationTimestamp ?? null);
  if (condition !== undefined) status['conditions'] = [condition];
  asJson(pod)['status'] = status;
}

function waitingCondition(spec: JsonObject, now: string | null): JsonObject | undefined {
  if (listAt(spec, 'schedulingGates').length === 0) return undefined;
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

function podFields(pod: KubeObject): Record<string, string> {
  const spec = specOf(pod);
  const status = objectAt(asJson(pod), 'status') ?? {};
  const ips = listAt(status, 'podIPs');
  return {
    'spec.nodeName': textAt(spec, 'nodeName'),
    'spec.restartPolicy': textAt(spec, 'restartPolicy'),
    'spec.schedulerName': textAt(spec, 'schedulerName'),
    'spec.serviceAccountName': textAt(spec, 'serviceAccountName'),
    'spec.hostNetwork': String(isTrueAt(spec, 'hostNetwork')),
    'status.phase': textAt(status, 'phase'),
    'status.podIP': ips[0] === undefined ? textAt(status, 'podIP') : textAt(ips[0], 'ip'),
    'status.podIPs': ips.map((ip) => textAt(ip, 'ip')).join(','),
    'status.nominatedNodeName': textAt(status, 'nominatedNodeName'),
  };
}
