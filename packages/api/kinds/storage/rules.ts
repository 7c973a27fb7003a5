import type { KindRules } from '../kind-rules.ts';
import { defaultCsiDriver, defaultStorageClass, defaultVolumeAttachment } from './defaults.ts';
import {
  staying,
  validateAttributesClass,
  validateCapacity,
  validateCsiDriver,
  validateCsiDriverUpdate,
  validateCsiNode,
  validateStorageClass,
  validateStorageClassUpdate,
  validateVolumeAttachment,
} from './validation.ts';

export const storageRules: Readonly<Record<string, KindRules>> = {
  'storage.k8s.io/StorageClass': {
    applyDefaults: defaultStorageClass,
    validateCreate: validateStorageClass,
    validateUpdate: validateStorageClassUpdate,
  },
  'storage.k8s.io/CSIDriver': {
    allowsUnconditionalUpdate: false,
    applyDefaults: defaultCsiDriver,
    validateCreate: validateCsiDriver,
    validateUpdate: validateCsiDriverUpdate,
  },
  'storage.k8s.io/CSINode': {
    allowsUnconditionalUpdate: false,
    validateCreate: validateCsiNode,
    validateUpdate: validateCsiNode,
  },
  'storage.k8s.io/CSIStorageCapacity': {
    allowsUnconditionalUpdate: false,
    validateCreate: validateCapacity,
    validateUpdate: staying(validateCapacity, 'nodeTopology', 'storageClassName'),
  },
  'storage.k8s.io/VolumeAttachment': {
    allowsUnconditionalUpdate: false,
    applyDefaults: defaultVolumeAttachment,
    validateCreate: validateVolumeAttachment,
    validateUpdate: staying(validateVolumeAttachment, 'spec'),
  },
  'storage.k8s.io/VolumeAttributesClass': {
    validateCreate: validateAttributesClass,
    validateUpdate: staying(validateAttributesClass, 'driverName', 'parameters'),
  },
};
