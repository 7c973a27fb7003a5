import type { JsonObject } from '@sheaf/base';
import type { KubeObject } from '../../meta/object.ts';
import { ensureSpec, fill, listAt, objectAt } from '../fields.ts';

export function defaultAutoscaler(autoscaler: KubeObject): void {
  const spec = ensureSpec(autoscaler);
  fill(spec, 'minReplicas', 1);
  if (listAt(spec, 'metrics').length === 0) spec['metrics'] = [cpuUtilization()];
  const behavior = objectAt(spec, 'behavior');
  if (behavior === undefined) return;
  behavior['scaleUp'] = withScalingDefaults(objectAt(behavior, 'scaleUp'), {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  });
  behavior['scaleDown'] = withScalingDefaults(objectAt(behavior, 'scaleDown'), {
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  });
}

function cpuUtilization(): JsonObject {
  return {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
  };
}

function withScalingDefaults(rules: JsonObject | undefined, defaults: JsonObject): JsonObject {
  return { ...defaults, ...rules };
}
