import type { ResetFields } from '../managed-fields/index.ts';
import type { StatusMetadata } from './shared-strategy.ts';

/** Kinds whose status says nothing of their metadata. Of all others writers of the status may change labels, annotations and finalizers. */
const untouched = new Set([
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
  'certificates.k8s.io/PodCertificateRequest',
  'flowcontrol.apiserver.k8s.io/FlowSchema',
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
  'apiextensions.k8s.io/CustomResourceDefinition',
  'networking.k8s.io/ServiceCIDR',
  'resource.k8s.io/DeviceTaintRule',
  'resource.k8s.io/ResourceClaim',
  'scheduling.k8s.io/PodGroup',
  'storage.k8s.io/VolumeAttachment',
]);

/** What of the metadata of a built-in kind a write to its status may change. */
export function statusMetadataOf({ group, kind }: { group: string; kind: string }): StatusMetadata {
  const key = `${group}/${kind}`;
  if (key === 'apps/Deployment') return 'all-but-labels';
  if (key === '/Pod') return 'all-but-owners';
  return untouched.has(key) ? 'none' : 'all';
}

const resets: Readonly<Record<StatusMetadata, ResetFields>> = {
  none: [['spec'], ['metadata']],
  all: [['spec']],
  'all-but-labels': [['spec'], ['metadata', 'labels']],
  'all-but-owners': [['spec'], ['metadata', 'ownerReferences']],
};

/** The fields that a write to the status therefore never owns. */
export function statusResets(metadata: StatusMetadata): ResetFields {
  return resets[metadata];
}
