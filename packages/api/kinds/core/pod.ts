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

const noRuntimeMessage =
  'Nothing on this Sheaf runs pods yet, so this pod stays Pending. Run it on a Kubernetes cluster, or delete it with "kubectl delete pod".';

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

/** A new pod waits, and says for what. */
function startPending(pod: KubeObject): void {
  const spec = ensureSpec(pod);
  // The class depends on what containers ask for by default.
  defaultPodOnly(spec);
  const status: JsonObject = { phase: 'Pending', qosClass: podQualityOfService(spec) };
  const condition = waitingCondition(spec, pod.metadata.creationTimestamp ?? null);
  if (condition !== undefined) {
    status['conditions'] = [condition];
    // Shown by `kubectl describe`, which hides the messages of conditions.
    status['message'] = condition['message'];
  }
  asJson(pod)['status'] = status;
}

function waitingCondition(spec: JsonObject, now: string | null): JsonObject | undefined {
  const base = { type: 'PodScheduled', status: 'False', lastProbeTime: null, lastTransitionTime: now };
  if (listAt(spec, 'schedulingGates').length > 0) {
    return {
      ...base,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    };
  }
  if (textAt(spec, 'nodeName') !== '') return undefined;
  return { ...base, reason: 'NoNodeRuntime', message: noRuntimeMessage };
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
