import { asJson } from '../../meta/object.ts';
import { checkReplicaStatus } from '../apps/workload-status.ts';
import { fieldsAt, isTrueAt, numberAt, specOf } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { validateVolume, validateVolumeUpdate } from './claim-validation.ts';
import { configMapRules } from './config-map.ts';
import { eventRules, newerEventRules } from './event.ts';
import {
  validateLimitRange,
  validateResourceQuota,
  validateResourceQuotaUpdate,
} from './limits-validation.ts';
import { namespaceRules } from './namespace.ts';
import { persistentVolumeClaimRules } from './persistent-volume-claim.ts';
import { podRules } from './pod.ts';
import { secretRules } from './secret.ts';
import { serviceRules } from './service.ts';
import {
  defaultEndpoints,
  defaultLimitRange,
  defaultNode,
  defaultPersistentVolume,
  defaultPodTemplate,
  defaultReplicationController,
  defaultResourceQuota,
  startVolume,
} from './small-defaults.ts';
import {
  validateEndpoints,
  validateNode,
  validateNodeUpdate,
  validatePodTemplate,
  validateReplicationController,
} from './small-validation.ts';
import { persistentVolumeWarnings } from './volume-warnings.ts';

export const coreRules: Readonly<Record<string, KindRules>> = {
  '/ConfigMap': configMapRules,
  '/Secret': secretRules,
  '/Namespace': namespaceRules,
  '/Service': serviceRules,
  '/Pod': podRules,
  '/PersistentVolumeClaim': persistentVolumeClaimRules,
  '/PersistentVolume': {
    applyDefaults: defaultPersistentVolume,
    prepareForCreate: startVolume,
    validateCreate: validateVolume,
    validateUpdate: validateVolumeUpdate,
    warnings: persistentVolumeWarnings,
    selectableFields: ({ metadata }) => ({ name: metadata.name ?? '' }),
  },
  '/ReplicationController': {
    tracksGeneration: true,
    defaultPropagation: 'Orphan',
    applyDefaults: defaultReplicationController,
    validateCreate: validateReplicationController,
    validateUpdate: validateReplicationController,
    validateStatusUpdate: checkReplicaStatus,
    selectableFields: (controller) => ({
      'status.replicas': String(numberAt(fieldsAt(asJson(controller), 'status'), 'replicas') ?? 0),
    }),
  },
  '/PodTemplate': {
    tracksGeneration: true,
    applyDefaults: defaultPodTemplate,
    validateCreate: validatePodTemplate,
    validateUpdate: validatePodTemplate,
  },
  '/Endpoints': {
    allowsCreateOnUpdate: true,
    applyDefaults: defaultEndpoints,
    validateCreate: validateEndpoints,
    validateUpdate: validateEndpoints,
    warnings: () => ['v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
  },
  '/Node': {
    applyDefaults: defaultNode,
    validateCreate: validateNode,
    validateUpdate: validateNodeUpdate,
    selectableFields: (node) => ({ 'spec.unschedulable': String(isTrueAt(specOf(node), 'unschedulable')) }),
  },
  '/LimitRange': {
    allowsCreateOnUpdate: true,
    applyDefaults: defaultLimitRange,
    validateCreate: validateLimitRange,
    validateUpdate: validateLimitRange,
  },
  '/ResourceQuota': {
    applyDefaults: defaultResourceQuota,
    validateCreate: validateResourceQuota,
    validateUpdate: validateResourceQuotaUpdate,
  },
  '/Event': eventRules,
  'events.k8s.io/Event': newerEventRules,
};
