import { type StorageClass, storageDriver, type VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { backingImageOf, imageIdAnnotation, imageIdOf } from './image-names.ts';

export const usualParameters = {
  numberOfReplicas: '3',
  staleReplicaTimeout: '30',
  migratable: 'true',
} as const;

/** What an image's class takes over from the class that its maker has chosen. */
const inherited = new Set([
  'nodeSelector',
  'diskSelector',
  'numberOfReplicas',
  'staleReplicaTimeout',
  'dataLocality',
  'encrypted',
  'csi.storage.k8s.io/provisioner-secret-name',
  'csi.storage.k8s.io/provisioner-secret-namespace',
  'csi.storage.k8s.io/node-stage-secret-name',
  'csi.storage.k8s.io/node-stage-secret-namespace',
  'csi.storage.k8s.io/node-publish-secret-name',
  'csi.storage.k8s.io/node-publish-secret-namespace',
]);

type Parameters = Readonly<Record<string, string>>;

/** `spec.storageClassParameters` of a new image. */
export function parametersFrom(chosen: Parameters | undefined): Parameters {
  const taken = Object.entries(chosen ?? {}).filter(([name]) => inherited.has(name));
  return { ...usualParameters, ...Object.fromEntries(taken) };
}

/** The class that makes volumes with the content of an image. */
export function storageClassOf(image: VirtualMachineImage, name: string): StorageClass {
  const chosen = image.spec.storageClassParameters ?? usualParameters;
  return {
    metadata: { name, annotations: { [imageIdAnnotation]: imageIdOf(image) } },
    provisioner: storageDriver,
    parameters: { backingImage: backingImageOf(image), ...chosen },
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    allowVolumeExpansion: true,
  };
}

/** Not one that merely has the name. */
export function standsFor({ parameters }: StorageClass, image: VirtualMachineImage): boolean {
  return parameters?.['backingImage'] === backingImageOf(image);
}
