import type { KubeObject } from '@sheaf/api';
import { isJsonObject } from '@sheaf/base';
import type { Strategy } from './resource.ts';

/** Kinds whose deletion answers the object that is gone, not a Status. Clients read the uid from either. */
const shownWhenDeleted = new Set([
  '/Namespace',
  '/PersistentVolume',
  '/PersistentVolumeClaim',
  '/Pod',
  '/PodTemplate',
  '/ResourceQuota',
  '/Service',
  '/ServiceAccount',
  'resource.k8s.io/DeviceClass',
  'resource.k8s.io/DeviceTaintRule',
  'resource.k8s.io/ResourceClaim',
  'resource.k8s.io/ResourceClaimTemplate',
  'resource.k8s.io/ResourceSlice',
  'storage.k8s.io/CSIDriver',
  'storage.k8s.io/CSINode',
  'storage.k8s.io/StorageClass',
  'storage.k8s.io/VolumeAttachment',
  'storage.k8s.io/VolumeAttributesClass',
]);

type DeletionTraits = Pick<
  Strategy,
  'prepareForDelete' | 'isHeld' | 'isShownWhenDeleted' | 'orphaningWarning'
>;

/** Namespaces have finalizers of their own, in `spec`: as long as there are some, a deleted one ends but stays. */
const namespaceTraits: DeletionTraits = {
  prepareForDelete(namespace) {
    const status = namespace['status'];
    namespace['status'] = { ...(isJsonObject(status) ? status : {}), phase: 'Terminating' };
  },
  isHeld(namespace: KubeObject): boolean {
    const spec = namespace['spec'];
    const finalizers = isJsonObject(spec) ? spec['finalizers'] : undefined;
    return Array.isArray(finalizers) && finalizers.length > 0;
  },
};

const jobTraits: DeletionTraits = {
  orphaningWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set ' +
    'propagationPolicy=Orphan to suppress this warning',
};

/** The strategy with what is special about deleting its kind. What `usual` makes only when asked for stays so. */
export function withDeletionTraits(
  usual: Strategy,
  { group, kind }: { group: string; kind: string },
): Strategy {
  const key = `${group}/${kind}`;
  const traits: DeletionTraits = {
    ...(key === '/Namespace' ? namespaceTraits : {}),
    ...(key === 'batch/Job' ? jobTraits : {}),
    ...(shownWhenDeleted.has(key) ? { isShownWhenDeleted: true } : {}),
  };
  if (Object.keys(traits).length === 0) return usual;
  return Object.assign(Object.create(usual) as Strategy, traits);
}
