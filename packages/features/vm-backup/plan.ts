import type { KubeObject, WaitedFor, Waiting } from '@sheaf/api';
import {
  type BackupError,
  type PersistentVolumeClaim,
  type SecretBackup,
  storageDriver,
  type VirtualMachine,
  type VirtualMachineBackup,
  type VirtualMachineBackupStatus,
  type VirtualMachineInstance,
  type VolumeBackup,
  type VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { parseQuantity, quantityAsNumber } from '@sheaf/base';
import { hasMemory, obstacleToMemory } from './kept-memory.ts';
import { conditionsOf, firstFault, messageOf, noBackupTarget, waitingOf } from './outcome.ts';
import { secretNamesOf } from './secret-references.ts';
import { claimNameOf, sourceClaimOf } from './source-disks.ts';

export interface BackupFacts {
  readonly backup: VirtualMachineBackup;
  readonly machine: VirtualMachine | undefined;
  /** That of the machine. */
  readonly instance: VirtualMachineInstance | undefined;
  readonly findClaim: (name: string) => PersistentVolumeClaim | undefined;
  readonly findSnapshot: (name: string) => VolumeSnapshot | undefined;
  /** Those that the machine is started with, as the server has them. */
  readonly secrets: ReadonlyMap<string, KubeObject>;
  readonly now: string;
}

export interface BackupPlan {
  /** To be taken now. What they are of is written down in the status before. */
  readonly snapshots: readonly VolumeSnapshot[];
  /** `undefined`: nothing is to be said. */
  readonly status: VirtualMachineBackupStatus | undefined;
  readonly waiting: Waiting | undefined;
}

/** Snapshots that are kept beside their volume. */
const snapshotClass = 'longhorn-snapshot';
const ownersAnnotation = 'harvesterhci.io/owned-by';

/** What is to be done for a snapshot of a machine, and what is to be seen of it. */
export function planBackup(facts: BackupFacts): BackupPlan {
  const { backup } = facts;
  if (backup.metadata.deletionTimestamp !== undefined)
    return { snapshots: [], status: undefined, waiting: undefined };
  if (backup.spec.type !== 'snapshot') return told(facts, {}, noBackupTarget);
  return backup.status?.source ? planVolumes(facts, backup.status.volumeBackups ?? []) : planSource(facts);
}

/** The first step: what the machine is at this moment is written down, with the names of all that will be made. */
function planSource(facts: BackupFacts): BackupPlan {
  const { backup, machine } = facts;
  const missing = missingOf(facts);
  if (missing || !machine) return told(facts, {}, missing);
  const { namespace = '', name = '', labels, annotations, uid = '' } = machine.metadata;
  const started = {
    source: {
      metadata: { namespace, name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
      spec: machine.spec,
    },
    sourceUID: uid,
    csiDriverVolumeSnapshotClassNames: { [storageDriver]: snapshotClass },
    volumeBackups: disksOf(machine).flatMap(({ volumeName, claimName }) => {
      const claim = facts.findClaim(claimName);
      return claim ? [newVolumeBackup(backup, { volumeName, claim })] : [];
    }),
    secretBackups: secretsOf(facts, machine),
  };
  const waiting: Waiting = {
    reason: 'Starting',
    text: 'Its snapshots are about to be taken',
    nature: 'transient',
  };
  return told(facts, started, waiting);
}

function missingOf(facts: BackupFacts): Waiting | undefined {
  const { backup, machine, instance } = facts;
  const { name } = backup.spec.source;
  if (!machine || machine.metadata.deletionTimestamp !== undefined)
    return {
      reason: 'SourceNotFound',
      text: 'The virtual machine that it is of is not there',
      nature: 'fault',
      wayOut: 'create the virtual machine, or delete this',
      object: objectOf(backup, 'VirtualMachine', name),
    };
  const obstacle = hasMemory(backup) ? obstacleToMemory(machine, instance) : undefined;
  if (obstacle) return obstacle;
  const claim = disksOf(machine).find(({ claimName }) => !facts.findClaim(claimName));
  if (claim)
    return {
      reason: 'ClaimNotFound',
      text: 'A disk of the virtual machine has no claim',
      nature: 'fault',
      wayOut: 'create the claim, or take the disk out of the virtual machine',
      object: objectOf(backup, 'PersistentVolumeClaim', claim.claimName),
    };
  const secret = secretNamesOf(machine.spec.template.spec).find((each) => !facts.secrets.has(each));
  if (secret === undefined) return undefined;
  return {
    reason: 'SecretNotFound',
    text: 'A Secret that the virtual machine is started with is not there',
    nature: 'fault',
    wayOut: 'create the Secret, or take it out of the virtual machine',
    object: objectOf(backup, 'Secret', secret),
  };
}

function secretsOf({ secrets }: BackupFacts, { spec }: VirtualMachine): readonly SecretBackup[] {
  return secretNamesOf(spec.template.spec).map((name) => {
    const data = secrets.get(name)?.['data'] as SecretBackup['data'];
    return { name, ...(data ? { data } : {}) };
  });
}

interface DiskOnClaim {
  /** As the machine calls it. */
  readonly volumeName: string;
  readonly claimName: string;
}

/** The disks of a machine that are on claims, each claim once. */
function disksOf({ spec }: VirtualMachine): readonly DiskOnClaim[] {
  const disks = (spec.template.spec?.volumes ?? []).flatMap((volume): DiskOnClaim[] => {
    const claimName = claimNameOf(volume);
    return claimName === undefined ? [] : [{ volumeName: volume.name, claimName }];
  });
  return disks.filter(
    ({ claimName }, index) => disks.findIndex((each) => each.claimName === claimName) === index,
  );
}

function newVolumeBackup(
  backup: VirtualMachineBackup,
  { volumeName, claim }: { readonly volumeName: string; readonly claim: PersistentVolumeClaim },
): VolumeBackup {
  const { namespace = '', name = '', labels, annotations = {} } = claim.metadata;
  const { [ownersAnnotation]: _, ...kept } = annotations;
  const size = claim.status?.capacity?.['storage'];
  return {
    name: `${backup.metadata.name ?? ''}-volume-${name}`,
    volumeName,
    csiDriverName: storageDriver,
    persistentVolumeClaim: {
      metadata: { namespace, name, ...(labels ? { labels } : {}), annotations: kept },
      spec: claim.spec as NonNullable<VolumeBackup['persistentVolumeClaim']['spec']>,
    },
    progress: 0,
    readyToUse: false,
    ...(size === undefined ? {} : { volumeSize: bytesOf(size) }),
  };
}

function bytesOf(quantity: string | number): number {
  return quantityAsNumber(parseQuantity(String(quantity)));
}

function planVolumes(facts: BackupFacts, volumes: readonly VolumeBackup[]): BackupPlan {
  const each = volumes.map((volume) => planVolume(facts, volume));
  const volumeBackups = each.map(({ volume }) => volume);
  const waits = each.flatMap(({ waiting }) => waiting ?? []);
  const waiting = firstFault(...waits);
  const ready = volumeBackups.filter(({ readyToUse }) => readyToUse === true).length;
  const progress = volumes.length === 0 ? 100 : Math.floor((ready * 100) / volumes.length);
  const times = volumeBackups.flatMap(({ creationTime }) => creationTime ?? []).sort();
  const creationTime = facts.backup.status?.creationTime ?? times.at(-1) ?? facts.now;
  const done = waiting ? {} : { creationTime };
  const plan = told(facts, { volumeBackups, progress, ...done }, waiting);
  return { ...plan, snapshots: each.flatMap(({ snapshot }) => snapshot ?? []) };
}

interface VolumeStep {
  readonly volume: VolumeBackup;
  readonly snapshot?: VolumeSnapshot;
  readonly waiting?: Waiting;
}

function planVolume({ backup, findSnapshot, now }: BackupFacts, volume: VolumeBackup): VolumeStep {
  const { name = '' } = volume;
  const snapshot = findSnapshot(name);
  const { error: old, ...told } = volume;
  const object = objectOf(backup, 'VolumeSnapshot', name);
  const problem = problemOf(backup, { snapshot, wasTaken: volume.progress === 100, object });
  if (problem) {
    const error = errorOf(messageOf(problem), old, now);
    return { volume: { ...told, readyToUse: false, error }, waiting: problem };
  }
  if (snapshot?.status?.readyToUse === true) return { volume: { ...told, ...takenOf(snapshot.status) } };
  const waiting: Waiting = {
    reason: 'Taking',
    text: 'A snapshot is being taken',
    nature: 'transient',
    object,
  };
  return { volume: told, waiting, ...(snapshot ? {} : { snapshot: newSnapshot(backup, volume) }) };
}

function takenOf({
  creationTime,
  restoreSize,
}: NonNullable<VolumeSnapshot['status']>): Partial<VolumeBackup> {
  return {
    ...(restoreSize === undefined ? {} : { volumeSize: bytesOf(restoreSize) }),
    ...(creationTime === undefined ? {} : { creationTime }),
    readyToUse: true,
    progress: 100,
  };
}

/** An error keeps its time as long as it stays the same. */
function errorOf(message: string, old: BackupError | undefined, now: string): BackupError {
  return { message, time: old?.message === message ? (old.time ?? now) : now };
}

function problemOf(
  backup: VirtualMachineBackup,
  {
    snapshot,
    wasTaken,
    object,
  }: {
    readonly snapshot: VolumeSnapshot | undefined;
    readonly wasTaken: boolean;
    readonly object: WaitedFor;
  },
): Waiting | undefined {
  // Taken anew, it would hold what the disk has now: never what this was made to keep.
  if (!snapshot && wasTaken)
    return {
      reason: 'SnapshotLost',
      text: 'A snapshot that had been taken is not there any more',
      nature: 'fault',
      wayOut: 'delete this and take another',
      object,
    };
  if (!snapshot) return undefined;
  if (!snapshot.metadata.ownerReferences?.some(({ uid }) => uid === backup.metadata.uid))
    return {
      reason: 'SnapshotTaken',
      text: 'A snapshot of the name that it needs belongs to something else',
      nature: 'fault',
      wayOut: 'delete this and make it under another name',
      object,
    };
  const { readyToUse, error } = snapshot.status ?? {};
  if (readyToUse === true || error?.message === undefined) return undefined;
  return waitingOf(error.message, object);
}

function newSnapshot(backup: VirtualMachineBackup, volume: VolumeBackup): VolumeSnapshot {
  const { namespace = '', name = '', uid = '' } = backup.metadata;
  const owner = { apiVersion: 'harvesterhci.io/v1beta1', kind: 'VirtualMachineBackup', name, uid };
  return {
    metadata: {
      namespace,
      name: volume.name ?? '',
      ...atOneMoment(backup),
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: {
      source: { persistentVolumeClaimName: sourceClaimOf(volume) },
      volumeSnapshotClassName: snapshotClass,
    },
  };
}

/** Under a running machine, all its disks are taken at once. */
function atOneMoment(backup: VirtualMachineBackup): Pick<VolumeSnapshot['metadata'], 'annotations'> {
  const { metadata, status } = backup;
  const size = status?.volumeBackups?.length ?? 1;
  if (size < 2 && !hasMemory(backup)) return {};
  return {
    annotations: {
      'sheaf.dev/moment': metadata.uid ?? '',
      'sheaf.dev/moment-size': String(size),
      ...(hasMemory(backup) ? { 'sheaf.dev/moment-memory': 'true' } : {}),
    },
  };
}

function objectOf({ metadata }: VirtualMachineBackup, kind: string, name: string): WaitedFor {
  return { kind, namespace: metadata.namespace ?? '', name };
}

/** What is to be seen of it, and nothing is done. */
export function told(
  { backup, now }: BackupFacts,
  found: VirtualMachineBackupStatus,
  waiting: Waiting | undefined,
): BackupPlan {
  const { error: old, ...before } = backup.status ?? {};
  const error = waiting?.nature === 'fault' ? { error: errorOf(messageOf(waiting), old, now) } : {};
  const status = {
    progress: 0,
    ...before,
    ...found,
    ...error,
    readyToUse: waiting === undefined,
    conditions: conditionsOf(backup.status?.conditions, waiting, now),
  } as VirtualMachineBackupStatus;
  return { snapshots: [], status, waiting };
}
