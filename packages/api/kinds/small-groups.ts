import { asJson } from '../meta/object.ts';
import { certificateRules } from './certificates/rules.ts';
import { immutableField } from './checks.ts';
import { ensureSpec, fill, objectAt, specOf } from './fields.ts';
import { defaultFlowSchema, defaultPriorityLevel } from './flowcontrol/defaults.ts';
import { validateFlowSchema, validatePriorityLevel } from './flowcontrol/validation.ts';
import type { KindRules } from './kind-rules.ts';
import { defaultClaimTemplate, defaultResourceClaim } from './resource/defaults.ts';
import {
  validateApiService,
  validateDisruptionBudget,
  validateLease,
  validatePriorityClass,
  validatePriorityClassUpdate,
  validateRuntimeClass,
  validateRuntimeClassUpdate,
} from './small-group-validation.ts';

/** Groups of one or two kinds. */
export const smallGroupRules: Readonly<Record<string, KindRules>> = {
  ...certificateRules,
  'policy/PodDisruptionBudget': {
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    validateCreate: validateDisruptionBudget,
    validateUpdate: validateDisruptionBudget,
  },
  'coordination.k8s.io/Lease': {
    allowsCreateOnUpdate: true,
    allowsUnconditionalUpdate: false,
    validateCreate: validateLease,
    validateUpdate: validateLease,
  },
  'node.k8s.io/RuntimeClass': {
    allowsCreateOnUpdate: true,
    allowsUnconditionalUpdate: false,
    validateCreate: validateRuntimeClass,
    validateUpdate: validateRuntimeClassUpdate,
  },
  'scheduling.k8s.io/PriorityClass': {
    tracksGeneration: true,
    applyDefaults: (priorityClass) => fill(asJson(priorityClass), 'preemptionPolicy', 'PreemptLowerPriority'),
    validateCreate: validatePriorityClass,
    validateUpdate: validatePriorityClassUpdate,
  },
  'flowcontrol.apiserver.k8s.io/FlowSchema': {
    tracksGeneration: true,
    applyDefaults: defaultFlowSchema,
    validateCreate: validateFlowSchema,
    validateUpdate: validateFlowSchema,
  },
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': {
    tracksGeneration: true,
    applyDefaults: defaultPriorityLevel,
    validateCreate: validatePriorityLevel,
    validateUpdate: validatePriorityLevel,
  },
  'apiregistration.k8s.io/APIService': {
    allowsUnconditionalUpdate: false,
    nameRule: 'path-segment',
    applyDefaults(service) {
      const reference = objectAt(ensureSpec(service), 'service');
      if (reference !== undefined) fill(reference, 'port', 443);
    },
    validateCreate: validateApiService,
    validateUpdate: validateApiService,
  },
  'apiextensions.k8s.io/CustomResourceDefinition': { allowsUnconditionalUpdate: false },
  'resource.k8s.io/ResourceClaim': {
    applyDefaults: defaultResourceClaim,
    validateUpdate: (next, old) => immutableField('spec', specOf(next), specOf(old)),
  },
  'resource.k8s.io/ResourceClaimTemplate': {
    applyDefaults: defaultClaimTemplate,
    validateUpdate: (next, old) => immutableField('spec', specOf(next), specOf(old)),
  },
  'resource.k8s.io/DeviceClass': { tracksGeneration: true },
  'resource.k8s.io/ResourceSlice': { tracksGeneration: true },
};
