import type { Waiting } from '@sheaf/api';
import type {
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineRestoreStatus,
  VirtualMachineSpec,
} from '@sheaf/api/virtualization/index';
import { planRemovals, removalAwaited, replacedClaims } from './old-volumes.ts';
import {
  type RestoreFacts,
  type RestorePlan,
  targetLost,
  targetOf,
  toldStatus,
  toldWaiting,
} from './restore-facts.ts';
import { isMarkedBy } from './restore-marks.ts';
import { planClaims } from './restored-claims.ts';
import { replacedMachine, restoredStrategy, startedMachine } from './restored-machine.ts';
import { planSecrets } from './restored-secrets.ts';
import { isOff } from './target-state.ts';

/**
 * The disks of a machine that is off are replaced by those of the snapshot, and the machine becomes what it was. What is there is
 * touched only when all that takes its place is there, and goes, if it is to go, only when nothing refers to it any more.
 */
export function planReplacement(facts: RestoreFacts, backup: VirtualMachineBackup): RestorePlan {
  const { restore, target } = facts;
  const source = backup.status?.source?.spec;
  const obstacle = obstacleTo(facts);
  if (obstacle || !target || !source) return toldWaiting(facts, obstacle);
  if (isMarkedBy(target, restore)) return planEnd(facts, target, source);
  return restore.status?.targetUID === undefined
    ? planBegin(facts, target, backup)
    : planExchange(facts, { target, backup, source });
}

function obstacleTo({ restore, target, instance }: RestoreFacts): Waiting | undefined {
  const begunWith = restore.status?.targetUID;
  const present = target?.metadata.deletionTimestamp === undefined ? target : undefined;
  if (begunWith !== undefined && present?.metadata.uid !== begunWith) return targetLost(restore);
  const object = targetOf(restore);
  if (!present) return { ...targetNotFound, object };
  return isMarkedBy(present, restore) || isOff(present, instance) ? undefined : { ...targetRunning, object };
}

const targetNotFound: Waiting = {
  reason: 'TargetNotFound',
  text: 'The virtual machine whose disks are to be replaced is not there',
  nature: 'fault',
  wayOut: 'delete it and restore to a new virtual machine: newVM true',
};

const targetRunning: Waiting = {
  reason: 'TargetRunning',
  text: 'The disks of a virtual machine cannot be replaced while it runs',
  nature: 'fault',
  wayOut: 'stop the virtual machine; the restore then goes on by itself',
};

/** What will be made and what will go stands in the status before anything is done. */
function planBegin(facts: RestoreFacts, target: VirtualMachine, backup: VirtualMachineBackup): RestorePlan {
  const { restore, findClaim } = facts;
  const volumes = backup.status?.volumeBackups ?? [];
  const deleted =
    restore.spec.deletionPolicy === 'delete' ? { deletedVolumes: replacedClaims(target, volumes) } : {};
  const found = {
    ...planClaims(restore, volumes, findClaim).status,
    ...deleted,
    targetUID: target.metadata.uid ?? '',
  };
  const waiting: Waiting = {
    reason: 'Starting',
    text: 'Its disks are about to be made',
    nature: 'transient',
  };
  return { steps: [], status: toldStatus(facts, found, waiting), waiting };
}

function planExchange(
  facts: RestoreFacts,
  {
    target,
    backup,
    source,
  }: {
    readonly target: VirtualMachine;
    readonly backup: VirtualMachineBackup;
    readonly source: VirtualMachineSpec;
  },
): RestorePlan {
  const { restore, findClaim } = facts;
  const claims = planClaims(restore, backup.status?.volumeBackups ?? [], findClaim);
  if (claims.waiting)
    return {
      steps: claims.missing.map((claim) => ({ action: 'create-claim', claim }) as const),
      status: toldStatus(facts, claims.status, claims.waiting),
      waiting: claims.waiting,
    };
  const secrets = planSecrets(facts, backup.status?.secretBackups ?? []);
  const waiting = secrets.waiting ?? replacing;
  const names = { claims: claims.names, secretName: secrets.nameOf };
  const machine = replacedMachine(target, { restore, backup, source }, names);
  return {
    steps: [...secrets.steps, ...(secrets.waiting ? [] : [{ action: 'replace-disks', machine } as const])],
    status: toldStatus(facts, claims.status, waiting),
    waiting,
  };
}

const replacing: Waiting = {
  reason: 'Replacing',
  text: 'The virtual machine gets its disks',
  nature: 'transient',
};

/** The machine has its disks: what is left is to start it, and to remove what was replaced. */
function planEnd(facts: RestoreFacts, target: VirtualMachine, source: VirtualMachineSpec): RestorePlan {
  const { restore } = facts;
  const strategy = restoredStrategy(restore, source);
  if (target.spec.runStrategy === 'Halted' && strategy !== 'Halted' && !hasBeenStarted(restore.status))
    return {
      steps: isSeenHalted(target)
        ? [{ action: 'start-machine', machine: startedMachine(target, strategy) }]
        : [],
      status: toldStatus(facts, isSeenHalted(target) ? { progress: startedProgress } : {}, replacing),
      waiting: replacing,
    };
  const steps = planRemovals(restore, facts);
  const waiting = steps.length > 0 ? removalAwaited : undefined;
  const end = waiting
    ? { progress: startedProgress }
    : { progress: 100, complete: true, restoreTime: facts.now };
  return { steps, status: toldStatus(facts, end, waiting), waiting };
}

/**
 * False while who starts machines has not seen yet that this one is off: a strategy that it finds as it was before has been carried
 * out, and starts nothing.
 */
function isSeenHalted({ status }: VirtualMachine): boolean {
  const seen = status?.runStrategy;
  return seen === undefined || seen === 'Halted';
}

/** From here on it is left to its user whether the machine runs. */
const startedProgress = 95;

function hasBeenStarted(status: VirtualMachineRestoreStatus | undefined): boolean {
  return (status?.progress ?? 0) >= startedProgress;
}
