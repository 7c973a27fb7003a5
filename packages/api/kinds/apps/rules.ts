import type { KubeObject } from '../../meta/object.ts';
import { podTemplateWarnings } from '../core/pod-warnings.ts';
import { specOf } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { countTemplateChange, startTemplateGeneration } from './daemon-set.ts';
import {
  defaultDaemonSet,
  defaultDeployment,
  defaultReplicaSet,
  defaultStatefulSet,
} from './workload-defaults.ts';
import {
  checkDaemonSetStatus,
  checkDeploymentStatus,
  checkReplicaStatus,
  checkStatefulSetStatus,
} from './workload-status.ts';
import {
  selectorStays,
  validateControllerRevision,
  validateControllerRevisionUpdate,
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateStatefulSet,
  validateStatefulSetUpdate,
} from './workload-validation.ts';

function warnings(next: KubeObject, old: KubeObject | undefined): readonly string[] {
  return old === undefined ? podTemplateWarnings(specOf(next), 'spec') : [];
}

export const appsRules: Readonly<Record<string, KindRules>> = {
  'apps/Deployment': {
    tracksGeneration: true,
    applyDefaults: defaultDeployment,
    validateCreate: validateDeployment,
    validateUpdate: selectorStays(validateDeployment),
    validateStatusUpdate: checkDeploymentStatus,
    warnings,
  },
  'apps/ReplicaSet': {
    tracksGeneration: true,
    applyDefaults: defaultReplicaSet,
    validateCreate: validateReplicaSet,
    validateUpdate: selectorStays(validateReplicaSet),
    validateStatusUpdate: checkReplicaStatus,
    warnings,
  },
  'apps/DaemonSet': {
    tracksGeneration: true,
    applyDefaults: defaultDaemonSet,
    prepareForCreate: startTemplateGeneration,
    prepareForUpdate: countTemplateChange,
    validateCreate: validateDaemonSet,
    validateUpdate: selectorStays(validateDaemonSet),
    validateStatusUpdate: checkDaemonSetStatus,
    warnings,
  },
  'apps/StatefulSet': {
    tracksGeneration: true,
    applyDefaults: defaultStatefulSet,
    validateCreate: validateStatefulSet,
    validateUpdate: validateStatefulSetUpdate,
    validateStatusUpdate: checkStatefulSetStatus,
    warnings,
  },
  'apps/ControllerRevision': {
    validateCreate: validateControllerRevision,
    validateUpdate: validateControllerRevisionUpdate,
  },
};
