import type { PersistentVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { dataFinalizer, isOurs, ownImageOf, volumeFinalizer, withoutFinalizers } from './volume-object.ts';

export interface VolumeFacts {
  readonly volume: PersistentVolume;
  /** The claim that it belongs to, as the server has it now. */
  readonly claim: PersistentVolumeClaim | undefined;
}

export type VolumeStep =
  | { readonly action: 'none' }
  /** Removes the data, then the object. Nothing of it is needed by anybody. */
  | {
      readonly action: 'remove';
      readonly volumeId: string;
      readonly ownImageId: string | undefined;
    }
  | { readonly action: 'update'; readonly volume: PersistentVolume };

/** Which phase a volume is in. */
export function phaseOf({ volume, claim }: VolumeFacts): string {
  const { claimRef } = volume.spec;
  if (!claimRef || claimRef.uid === undefined) return 'Available';
  if (!claim) return 'Released';
  return claim.spec.volumeName === volume.metadata.name ? 'Bound' : 'Pending';
}

/** The next step for a volume object. Data go only when its claim is gone, and only if its policy says so. */
export function planVolume(facts: VolumeFacts): VolumeStep {
  const { volume } = facts;
  const phase = phaseOf(facts);
  const isDeleting = volume.metadata.deletionTimestamp !== undefined;
  const isRemoved = isOurs(volume) && volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  if (phase === 'Released' && isRemoved)
    return {
      action: 'remove',
      volumeId: volume.spec.csi?.volumeHandle ?? '',
      ownImageId: ownImageOf(volume),
    };
  if (!isDeleting || phase === 'Bound' || phase === 'Pending') return { action: 'none' };
  return unprotected(volume);
}

/** The object may go. */
export function unprotected(volume: PersistentVolume): VolumeStep {
  const own = isOurs(volume) ? [volumeFinalizer, dataFinalizer] : [volumeFinalizer];
  const held = volume.metadata.finalizers ?? [];
  if (!held.some((name) => own.includes(name))) return { action: 'none' };
  return { action: 'update', volume: withoutFinalizers(volume, ...own) };
}
