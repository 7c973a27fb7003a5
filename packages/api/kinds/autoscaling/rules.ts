import { jsonClone } from '@sheaf/base';
import { asJson, asObject, type KubeObject } from '../../meta/object.ts';
import type { KindRules } from '../kind-rules.ts';
import { autoscalerConversion } from './conversion.ts';
import { defaultAutoscaler } from './defaults.ts';
import { validateAutoscaler } from './validation.ts';

const { toStorage, fromStorage } = autoscalerConversion;

/** Objects come in either version's shape; defaults and rules are those of autoscaling/v2. */
export const autoscalingRules: Readonly<Record<string, KindRules>> = {
  'autoscaling/HorizontalPodAutoscaler': {
    applyDefaults(autoscaler) {
      if (isKept(autoscaler)) return defaultAutoscaler(autoscaler);
      defaultAutoscaler(toStorage(autoscaler));
      fromStorage(autoscaler);
    },
    validateCreate: (autoscaler) => validateAutoscaler(keptForm(autoscaler)),
    validateUpdate: (next) => validateAutoscaler(keptForm(next)),
  },
};

function isKept(autoscaler: KubeObject): boolean {
  return autoscaler.apiVersion === 'autoscaling/v2';
}

function keptForm(autoscaler: KubeObject): KubeObject {
  return isKept(autoscaler) ? autoscaler : toStorage(asObject(jsonClone(asJson(autoscaler))));
}
