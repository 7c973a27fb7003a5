import type { WaitedFor } from '@sheaf/api';
import type { VirtualMachineImage, VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import { keyOf } from '@sheaf/runtime';
import { originalOf } from './image-source.ts';
import type { ImageCaches } from './reconcile.ts';
import type { SourceObjects } from './source-objects.ts';
import { snapshotFor } from './volume-source.ts';

/** The objects that an image is to be made from. */
export function readSources(caches: ImageCaches, image: VirtualMachineImage): SourceObjects {
  const { spec } = image;
  switch (spec.sourceType) {
    case 'download':
      return { additionalAuthorities: caches.settings.get('additional-ca')?.value };
    case 'export-from-volume':
      return readVolume(caches, image);
    case 'clone': {
      const place = originalOf(image);
      return { original: place && caches.images.get(`${place.namespace}/${place.name}`) };
    }
    default:
      return {};
  }
}

function readVolume(caches: ImageCaches, image: VirtualMachineImage): SourceObjects {
  const { pvcNamespace = '', pvcName = '' } = image.spec;
  const claim = caches.claims.get(`${pvcNamespace}/${pvcName}`);
  const snapshot = caches.snapshots.get(keyOf(snapshotFor(image)));
  const contentName = snapshot?.status?.boundVolumeSnapshotContentName ?? '';
  return {
    claim,
    volume: caches.volumes.get(claim?.spec.volumeName ?? ''),
    claimUsers: usersOf(pvcName, caches.instances.list(pvcNamespace)),
    snapshot,
    snapshotContent: caches.snapshotContents.get(contentName),
  };
}

function usersOf(claimName: string, instances: readonly VirtualMachineInstance[]): readonly WaitedFor[] {
  const isUser = ({ spec, status }: VirtualMachineInstance): boolean =>
    status?.phase !== 'Succeeded' &&
    status?.phase !== 'Failed' &&
    (spec.volumes ?? []).some(
      ({ persistentVolumeClaim, dataVolume }) =>
        (persistentVolumeClaim?.claimName ?? dataVolume?.name) === claimName,
    );
  return instances.filter(isUser).map(({ metadata }) => ({
    kind: 'VirtualMachineInstance',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
  }));
}
