import type { Waiting } from '@sheaf/api';
import { claimNamesOf, type Pod } from '@sheaf/api/workload/index';
import { claimNameOf, type DiskSpec, type VolumeSpec } from '../instance-spec.ts';
import type { VirtualMachineInstance } from '../virtual-machine.ts';

interface ClaimUse {
  readonly claim: string;
  readonly isReadOnly: boolean;
  readonly isShareable: boolean;
}

/**
 * Who of those that have a place on the node holds a claim that an instance needs for itself: a volume has one writer, unless all of
 * its users share it. Told before the process is, which would be refused by the lock of the file.
 */
export function heldClaimOf(
  instance: VirtualMachineInstance,
  peers: readonly VirtualMachineInstance[],
): Waiting | undefined {
  const wanted = usesOf(instance);
  for (const peer of peers.filter(({ metadata }) => metadata.namespace === instance.metadata.namespace)) {
    const held = usesOf(peer).find((use) => wanted.some((each) => excludes(each, use)));
    if (held) return heldBy(held.claim, peer);
  }
  return undefined;
}

function heldBy(claim: string, { metadata }: VirtualMachineInstance): Waiting {
  const { namespace = '', name = '' } = metadata;
  return {
    reason: 'VolumeInUse',
    text: `The volume ${claim} is held by the virtual machine ${namespace}/${name}; to have it here, stop that machine, or give this one another volume`,
    nature: 'transient',
    object: { kind: 'VirtualMachineInstance', namespace, name },
  };
}

/** Which pod has mounted a claim that an instance needs: a file system that is mounted has no other user. */
export function claimOfPod(instance: VirtualMachineInstance, pods: readonly Pod[]): Waiting | undefined {
  const wanted = new Set(usesOf(instance).map(({ claim }) => claim));
  const { namespace = '' } = instance.metadata;
  for (const pod of pods.filter(({ metadata }) => metadata.namespace === namespace)) {
    const claim = claimNamesOf(pod).find((each) => wanted.has(each));
    const { name = '' } = pod.metadata;
    if (claim !== undefined)
      return {
        reason: 'VolumeInUse',
        text: `The volume ${claim} is mounted by the pod ${namespace}/${name}; to have it here, delete that pod, or give this machine another volume`,
        nature: 'transient',
        object: { kind: 'Pod', namespace, name },
      };
  }
  return undefined;
}

function usesOf({ spec }: VirtualMachineInstance): readonly ClaimUse[] {
  const disks = new Map((spec.domain.devices.disks ?? []).map((disk) => [disk.name, disk]));
  return (spec.volumes ?? []).flatMap((volume): readonly ClaimUse[] => {
    const claim = claimNameOf(volume);
    const disk = disks.get(volume.name);
    if (claim === undefined) return [];
    const isReadOnly = isReadOnlyClaim(volume) || isReadOnlyDisk(disk);
    return [{ claim, isReadOnly, isShareable: disk?.shareable === true }];
  });
}

function isReadOnlyDisk(disk: DiskSpec | undefined): boolean {
  return disk?.cdrom !== undefined || (disk?.lun ?? disk?.disk)?.readonly === true;
}

function isReadOnlyClaim({ persistentVolumeClaim }: VolumeSpec): boolean {
  return persistentVolumeClaim?.readOnly === true;
}

function excludes(one: ClaimUse, other: ClaimUse): boolean {
  if (one.claim !== other.claim) return false;
  return !(one.isShareable && other.isShareable) && !(one.isReadOnly && other.isReadOnly);
}
