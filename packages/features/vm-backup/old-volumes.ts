import type { Waiting } from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  VirtualMachine,
  VirtualMachineRestore,
  VolumeBackup,
  VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { claimNameOf } from './source-disks.ts';

export interface OldVolumeFacts {
  readonly findClaim: (name: string) => PersistentVolumeClaim | undefined;
  /** Those of the namespace. */
  readonly machines: readonly VirtualMachine[];
  readonly snapshots: readonly VolumeSnapshot[];
}

export type RemovalStep = Removal<'delete-claim'> | Removal<'delete-data-volume'>;

interface Removal<Action extends string> {
  readonly action: Action;
  readonly ref: { readonly namespace: string; readonly name: string };
  readonly uid: string;
}

/** The claims that a restore takes off a machine: those of the disks that the snapshot has, too. */
export function replacedClaims(
  { spec }: VirtualMachine,
  volumeBackups: readonly VolumeBackup[],
): readonly string[] {
  const restored = new Set(volumeBackups.map(({ volumeName }) => volumeName));
  const names = (spec.template.spec?.volumes ?? []).filter(({ name }) => restored.has(name)).map(claimNameOf);
  return [...new Set(names.filter((name) => name !== undefined))];
}

/**
 * How the volumes go that nothing needs any more. One that a machine has, or that has snapshots which would go with it, stays: whoever
 * wants it gone deletes it himself.
 */
export function planRemovals(
  { status, spec }: VirtualMachineRestore,
  facts: OldVolumeFacts,
): readonly RemovalStep[] {
  if (spec.deletionPolicy !== 'delete') return [];
  return (status?.deletedVolumes ?? []).flatMap((name) => {
    const claim = facts.findClaim(name);
    if (!claim || claim.metadata.deletionTimestamp !== undefined) return [];
    return isNeeded(claim, facts) ? [] : [removalOf(claim)];
  });
}

export function isNeeded(claim: PersistentVolumeClaim, facts: OldVolumeFacts): boolean {
  return hasMachine(claim, facts) || snapshotsThatGoWith(claim, facts.snapshots).length > 0;
}

function hasMachine({ metadata }: PersistentVolumeClaim, { machines }: OldVolumeFacts): boolean {
  return machines.some(({ spec }) =>
    spec.template.spec?.volumes?.some((volume) => claimNameOf(volume) === metadata.name),
  );
}

/** Snapshots that belong to a claim; those of whole machines outlive it. */
export function snapshotsThatGoWith(
  { metadata: { uid } }: PersistentVolumeClaim,
  snapshots: readonly VolumeSnapshot[],
): readonly VolumeSnapshot[] {
  return snapshots.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

/** A claim that was made for a data volume would be made again by it. */
function removalOf({ metadata }: PersistentVolumeClaim): RemovalStep {
  const { namespace = '', name = '', uid = '' } = metadata;
  const owner = metadata.ownerReferences?.find(({ kind, controller }) => kind === 'DataVolume' && controller);
  return owner
    ? { action: 'delete-data-volume', ref: { namespace, name: owner.name }, uid: owner.uid }
    : { action: 'delete-claim', ref: { namespace, name }, uid };
}

export const removalAwaited: Waiting = {
  reason: 'RemovingOldVolumes',
  text: 'The volumes that were replaced are being deleted',
  nature: 'transient',
};
