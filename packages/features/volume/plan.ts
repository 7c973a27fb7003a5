import type { WaitedFor, Waiting } from '@sheaf/api';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
  storageDriver,
  type VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import type { VolumeCapabilities, VolumeObservation, VolumeOrder } from '@sheaf/ports';
import { bytesOf, type ClaimContent } from './claim-content.ts';
import { copiedFor, copySnapshot } from './copy-snapshot.ts';
import {
  adoptedClaim,
  boundClaim,
  claimedVolume,
  claimFinalizer,
  classNameOf,
  isOurs,
  provisionerAnnotation,
  requestedText,
  volumeObject,
} from './volume-object.ts';

/** Everything that the fate of a claim depends on. */
export interface ClaimFacts {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass | undefined;
  /** The class of claims that name none. */
  readonly defaultClass: string | undefined;
  /** The volume object that it names, or that names it. */
  readonly volume: PersistentVolume | undefined;
  readonly content: ClaimContent;
  /** What the driver knows of its volume. */
  readonly observation: VolumeObservation | undefined;
  readonly capabilities: VolumeCapabilities;
  /** Virtual machine instances on it that have not ended. */
  readonly users: readonly WaitedFor[];
  /** Pods on it that have a node and have not ended. */
  readonly pods: readonly WaitedFor[];
  /** Those of them that have it mounted. */
  readonly holders: readonly WaitedFor[];
  /** What was taken for it of a source that a machine writes to. */
  readonly copy: VolumeSnapshot | undefined;
}

export type ClaimStep =
  | { readonly action: 'none' }
  | { readonly action: 'wait'; readonly waiting: Waiting }
  | { readonly action: 'update-claim'; readonly claim: PersistentVolumeClaim }
  | { readonly action: 'make'; readonly order: VolumeOrder }
  | { readonly action: 'publish'; readonly volume: PersistentVolume }
  | { readonly action: 'update-volume'; readonly volume: PersistentVolume }
  | { readonly action: 'take-copy'; readonly snapshot: VolumeSnapshot }
  | { readonly action: 'drop-copy'; readonly snapshot: VolumeSnapshot }
  | { readonly action: 'expand'; readonly bytes: number }
  /** Nobody uses it: what was made for it and has no object yet is removed, and it is let go. */
  | { readonly action: 'let-go' };

/** Sizes are rounded up to whole blocks; a request that is ahead by less is met. */
const blockBytes = 4096;
const none: ClaimStep = { action: 'none' };

/** The next step for a claim. */
export function planClaim(facts: ClaimFacts): ClaimStep {
  const { claim, volume } = facts;
  if (claim.metadata.deletionTimestamp !== undefined) return planDeletion(facts);
  if (!volume) return planMaking(facts);
  if (!isBoundBy(volume, claim)) return planBinding(claim, volume);
  const { copy } = facts;
  if (copy && copy.metadata.deletionTimestamp === undefined) return { action: 'drop-copy', snapshot: copy };
  return planGrowth(facts, volume);
}

/** Claim and volume name each other. */
export function isBoundBy(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return claim.spec.volumeName === volume.metadata.name && volume.spec.claimRef?.uid === claim.metadata.uid;
}

function planDeletion({ claim, users, pods, copy }: ClaimFacts): ClaimStep {
  if (claim.metadata.finalizers?.includes(claimFinalizer) !== true) return none;
  const [user] = [...users, ...pods];
  if (!user) return isForeign(copy) ? { action: 'drop-copy', snapshot: copy } : { action: 'let-go' };
  return wait({
    reason: 'InUse',
    text: `It is being deleted, and goes when ${nounOf(user)} on it has ${user.kind === 'Pod' ? 'gone' : 'stopped'}`,
    nature: 'transient',
    object: user,
  });
}

/** In another namespace nothing else takes it away. */
function isForeign(copy: VolumeSnapshot | undefined): copy is VolumeSnapshot {
  return copy !== undefined && copiedFor(copy) !== undefined && copy.metadata.deletionTimestamp === undefined;
}

function planMaking(facts: ClaimFacts): ClaimStep {
  const { claim, storageClass, defaultClass } = facts;
  // A default class may come after the claims that want one.
  if (classNameOf(claim) === undefined && !claim.spec.volumeName && defaultClass !== undefined)
    return {
      action: 'update-claim',
      claim: { ...claim, spec: { ...claim.spec, storageClassName: defaultClass } },
    };
  const missing = classWaiting(facts) ?? firstUseWaiting(facts);
  if (missing || !storageClass) return missing ? wait(missing) : none;
  return planVolume(facts, storageClass);
}

function planVolume({ claim, content, observation }: ClaimFacts, storageClass: StorageClass): ClaimStep {
  if (content.state === 'waiting') return wait(content.waiting);
  if (claim.metadata.annotations?.[provisionerAnnotation] !== storageDriver)
    return { action: 'update-claim', claim: adoptedClaim(claim) };
  if (observation)
    return { action: 'publish', volume: volumeObject(claim, storageClass, ownImageIn(content)) };
  if (content.state === 'needs-snapshot')
    return { action: 'take-copy', snapshot: copySnapshot(claim, content.source) };
  const bytes = wholeBlocks(bytesOf(requestedText(claim)));
  const { leastBytes = 0 } = content;
  if (bytes < leastBytes)
    return wait({
      reason: 'VolumeTooSmall',
      text: `It asks for ${bytes} bytes, and its content has ${leastBytes}`,
      nature: 'fault',
      wayOut: `delete the claim and make it with ${leastBytes} bytes or more`,
    });
  return { action: 'make', order: orderOf(claim, { storageClass, content, bytes }) };
}

function ownImageIn(content: ClaimContent): string | undefined {
  return content.state === 'ready' ? content.ownImageId : undefined;
}

function orderOf(
  { metadata }: PersistentVolumeClaim,
  parts: {
    readonly storageClass: StorageClass;
    readonly content: Extract<ClaimContent, { state: 'ready' }>;
    readonly bytes: number;
  },
): VolumeOrder {
  const isFull = parts.storageClass.parameters?.['sheaf.dev/provisioning'] === 'full';
  return {
    id: metadata.uid ?? '',
    title: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`,
    bytes: parts.bytes,
    content: parts.content.content,
    provisioning:
      isFull || metadata.annotations?.['cdi.kubevirt.io/storage.preallocation'] === 'true' ? 'full' : 'thin',
  };
}

function classWaiting({ claim, storageClass, capabilities }: ClaimFacts): Waiting | undefined {
  const { volumeName } = claim.spec;
  if (volumeName)
    return {
      reason: 'VolumeNotFound',
      text: `The volume ${volumeName} that it names is not there`,
      nature: 'fault',
      wayOut: 'create that PersistentVolume, or delete the claim',
      object: { kind: 'PersistentVolume', namespace: '', name: volumeName },
    };
  const className = classNameOf(claim) ?? '';
  if (className === '')
    return {
      reason: 'NoStorageClass',
      text: 'It names no storage class, and there is no default one',
      nature: 'fault',
      wayOut: 'make it with a storage class, or with the name of a PersistentVolume',
    };
  const object = { kind: 'StorageClass', namespace: '', name: className };
  if (!storageClass)
    return {
      reason: 'StorageClassNotFound',
      text: `There is no storage class ${className}`,
      nature: 'fault',
      wayOut: 'create the class, or make the claim with one that is there',
      object,
    };
  if (storageClass.provisioner !== storageDriver)
    return {
      reason: 'ExternalProvisioning',
      text: `Its volume is to be made by ${storageClass.provisioner}, which is no part of Sheaf`,
      nature: 'transient',
      object,
    };
  return unmetParameter(storageClass) ?? unavailable(capabilities);
}

/** What a class promises about safety is kept or refused, never left out. */
function unmetParameter({ parameters = {}, metadata }: StorageClass): Waiting | undefined {
  const object = { kind: 'StorageClass', namespace: '', name: metadata.name ?? '' };
  if (parameters['encrypted'] === 'true')
    return {
      reason: 'EncryptionUnavailable',
      text: 'Its class asks for encryption, which volumes in a directory do not have',
      nature: 'fault',
      wayOut: 'use another class, and encrypt the file system of the host',
      object,
    };
  if (parameters['fromBackup'])
    return {
      reason: 'BackupUnavailable',
      text: 'Its class takes content from a backup of Longhorn, which cannot be read here',
      nature: 'fault',
      wayOut: 'restore the backup as an image elsewhere, and import that',
      object,
    };
  return undefined;
}

function unavailable({ volumes }: VolumeCapabilities): Waiting | undefined {
  if (volumes.isAvailable) return undefined;
  return {
    reason: 'DriverUnavailable',
    text: `Volumes cannot be made: ${volumes.reason}`,
    nature: 'fault',
    wayOut: volumes.wayOut ?? 'see the server log',
  };
}

function firstUseWaiting({ storageClass, users, pods, claim }: ClaimFacts): Waiting | undefined {
  if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer' || users.length + pods.length > 0)
    return undefined;
  if (claim.metadata.annotations?.['cdi.kubevirt.io/storage.bind.immediate.requested'] !== undefined)
    return undefined;
  return {
    reason: 'WaitForFirstConsumer',
    text: 'Its volume is made when the first machine or pod uses it',
    nature: 'transient',
    object: { kind: 'StorageClass', namespace: '', name: storageClass.metadata.name ?? '' },
  };
}

function planBinding(claim: PersistentVolumeClaim, volume: PersistentVolume): ClaimStep {
  const { claimRef } = volume.spec;
  const object = { kind: 'PersistentVolume', namespace: '', name: volume.metadata.name ?? '' };
  if (!isFor(volume, claim))
    return wait({
      reason: 'VolumeTaken',
      text: 'The volume that it names belongs to another claim',
      nature: 'fault',
      wayOut:
        'delete the claim and name another volume, or take spec.claimRef off a volume whose claim is gone',
      object,
    });
  const mismatch = mismatchOf(claim, volume);
  if (mismatch)
    return wait({
      reason: 'VolumeMismatch',
      text: `The volume that it names does not fit: ${mismatch}`,
      nature: 'fault',
      wayOut: 'delete the claim and make it as the volume is',
      object,
    });
  if (claimRef?.uid === undefined) return { action: 'update-volume', volume: claimedVolume(volume, claim) };
  return { action: 'update-claim', claim: boundClaim(claim, volume) };
}

/** Nobody else has it. */
function isFor({ spec: { claimRef } }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  if (!claimRef) return true;
  if (claimRef.namespace !== metadata.namespace || claimRef.name !== metadata.name) return false;
  return claimRef.uid === undefined || claimRef.uid === metadata.uid;
}

function mismatchOf(claim: PersistentVolumeClaim, { spec }: PersistentVolume): string | undefined {
  const { volumeMode = 'Filesystem', storageClassName = '' } = spec;
  if (volumeMode !== (claim.spec.volumeMode ?? 'Filesystem')) return `its mode is ${volumeMode}`;
  if (storageClassName !== (classNameOf(claim) ?? '')) return `its class is "${storageClassName}"`;
  const missing = (claim.spec.accessModes ?? []).filter((each) => !spec.accessModes.includes(each));
  if (missing.length > 0) return `it has no access mode ${missing.join(', ')}`;
  const [wanted, given] = [bytesOf(requestedText(claim)), bytesOf(spec.capacity['storage'])];
  // What a cancelled expansion leaves over is less than a block.
  return wanted - given >= blockBytes ? `it has ${spec.capacity['storage']}` : undefined;
}

/** A claim that has its volume: does it have the size that is asked for? */
function planGrowth(facts: ClaimFacts, volume: PersistentVolume): ClaimStep {
  const { claim, observation, capabilities, users, holders } = facts;
  if (!isOurs(volume) || !observation) return none;
  const wanted = bytesOf(requestedText(claim));
  const shown = bytesOf(volume.spec.capacity['storage']);
  if (wanted - shown < blockBytes) return none;
  if (observation.bytes >= wanted) return { action: 'update-volume', volume: withCapacity(volume, claim) };
  if (holders.length > 0) return wait(heldByPods(holders));
  const can = users.length > 0 ? capabilities.onlineExpand : capabilities.expand;
  if (can.isAvailable) return { action: 'expand', bytes: wholeBlocks(wanted) };
  return wait({
    reason: 'ExpansionUnavailable',
    text: `It cannot be expanded: ${can.reason}`,
    nature: 'fault',
    wayOut: can.wayOut ?? 'cancel the expansion',
  });
}

function heldByPods(holders: readonly WaitedFor[]): Waiting {
  const names = holders.map(({ namespace, name }) => `${namespace}/${name}`).join(', ');
  return {
    reason: 'FileSystemResizePending',
    text: `It grows when no pod has it mounted, and its file system with the next one: delete ${names}, or start what they belong to anew`,
    nature: 'transient',
    ...(holders[0] && { object: holders[0] }),
  };
}

function nounOf({ kind }: WaitedFor): string {
  return kind === 'Pod' ? 'the pod' : 'the machine';
}

function withCapacity(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  return { ...volume, spec: { ...volume.spec, capacity: { storage: requestedText(claim) } } };
}

function wholeBlocks(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

function wait(waiting: Waiting): ClaimStep {
  return { action: 'wait', waiting };
}
