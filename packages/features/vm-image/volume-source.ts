import type { WaitedFor, Waiting } from '@sheaf/api';
import type { PersistentVolume, VirtualMachineImage, VolumeSnapshot } from '@sheaf/api/virtualization/index';
import { imageIdAnnotation, imageIdOf } from './image-names.ts';
import type { ImageSource, SourceObjects } from './source-objects.ts';

/** The content of a claim's volume; of one that a machine writes to, that of one moment. */
export function volumeSource(image: VirtualMachineImage, objects: SourceObjects): ImageSource {
  const { claim, volume, claimUsers = [] } = objects;
  const { pvcNamespace: namespace = '', pvcName: name = '' } = image.spec;
  const object = { kind: 'PersistentVolumeClaim', namespace, name };
  if (!claim) return { state: 'waiting', waiting: missing(object) };
  const volumeId = handleOf(volume);
  if (volumeId === undefined || claim.status?.phase !== 'Bound')
    return {
      state: 'waiting',
      waiting: {
        reason: 'VolumeUnbound',
        text: 'The claim that it is to be made from has no volume yet',
        nature: 'transient',
        object,
      },
    };
  const snapshotId = takenId(objects);
  if (snapshotId !== undefined) return { state: 'ready', origin: { kind: 'snapshot', snapshotId } };
  if (claimUsers.length === 0) return { state: 'ready', origin: { kind: 'volume', volumeId } };
  return snapshotWait(image, objects.snapshot);
}

function missing(object: WaitedFor): Waiting {
  return {
    reason: 'VolumeNotFound',
    text: 'The volume that it is to be made from is not there',
    nature: 'fault',
    wayOut: 'create that claim, or delete the image',
    object,
  };
}

function handleOf(volume: PersistentVolume | undefined): string | undefined {
  return volume?.spec.csi?.volumeHandle;
}

/** The snapshot that was taken for the image, as the driver knows it. */
function takenId({ snapshot, snapshotContent }: SourceObjects): string | undefined {
  return snapshot?.status?.readyToUse === true ? snapshotContent?.status?.snapshotHandle : undefined;
}

function snapshotWait(image: VirtualMachineImage, snapshot: VolumeSnapshot | undefined): ImageSource {
  const wanted = snapshotFor(image);
  const { namespace = '', name = '' } = wanted.metadata;
  const error = snapshot?.status?.error?.message;
  const failure = error === undefined ? '' : `, which fails: ${error}`;
  const waiting: Waiting = {
    reason: 'SnapshotNotReady',
    text: `A machine runs on the volume that it is to be made from; it is made from a snapshot${failure}`,
    nature: 'transient',
    object: { kind: 'VolumeSnapshot', namespace, name },
  };
  return { state: 'waiting', waiting, ...(snapshot ? {} : { snapshot: wanted }) };
}

/** It goes when the image is there. */
export function snapshotFor(image: VirtualMachineImage): VolumeSnapshot {
  const { pvcNamespace: namespace = '', pvcName = '' } = image.spec;
  const name = `image-${image.metadata.uid ?? ''}`;
  return {
    metadata: { namespace, name, annotations: { [imageIdAnnotation]: imageIdOf(image) } },
    spec: { source: { persistentVolumeClaimName: pvcName } },
  };
}
