import type { Waiting } from '@sheaf/api';
import type {
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineRestoreStatus,
} from '@sheaf/api/virtualization/index';
import { firstFault } from './outcome.ts';
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
import { newMachine } from './restored-machine.ts';
import { planSecrets } from './restored-secrets.ts';

/** A machine under a new name, with claims and Secrets of its own. */
export function planNewMachine(facts: RestoreFacts, backup: VirtualMachineBackup): RestorePlan {
  const obstacle = newTargetWaiting(facts);
  return obstacle ? toldWaiting(facts, obstacle) : planMaking(facts, backup);
}

function planMaking(facts: RestoreFacts, backup: VirtualMachineBackup): RestorePlan {
  const { restore, target, findClaim, now } = facts;
  const claims = planClaims(restore, backup.status?.volumeBackups ?? [], findClaim);
  const secrets = planSecrets(facts, backup.status?.secretBackups ?? []);
  const names = { claims: claims.names, secretName: secrets.nameOf };
  const machine = target ? undefined : newMachine(restore, backup, names);
  const isMade = target !== undefined && secrets.steps.length === 0;
  const waiting = firstFault(claims.waiting, secrets.waiting, isMade ? undefined : making);
  const end = waiting ? {} : { complete: true, progress: 100, restoreTime: now };
  const found = { ...claims.status, ...targetUidOf(target), ...end };
  return {
    steps: [
      ...claims.missing.map((claim) => ({ action: 'create-claim', claim }) as const),
      ...secrets.steps,
      ...(machine ? [{ action: 'create-machine', machine } as const] : []),
    ],
    status: toldStatus(facts, found, waiting),
    waiting,
  };
}

function targetUidOf(target: VirtualMachine | undefined): Pick<VirtualMachineRestoreStatus, 'targetUID'> {
  return target ? { targetUID: target.metadata.uid ?? '' } : {};
}

const making: Waiting = {
  reason: 'Making',
  text: 'The virtual machine is being made',
  nature: 'transient',
};

function newTargetWaiting(facts: RestoreFacts): Waiting | undefined {
  const { restore, target } = facts;
  const object = targetOf(restore);
  const isOwn = target && isMarkedBy(target, restore);
  if (target && !isOwn)
    return {
      reason: 'TargetExists',
      text: 'There is a virtual machine of the name that the new one is to have',
      nature: 'fault',
      wayOut: 'delete it and make it with a target of another name, or delete that virtual machine',
      object,
    };
  if (!target && restore.status?.targetUID !== undefined) return targetLost(restore);
  return isOwn ? undefined : addressWaiting(facts);
}

function addressWaiting({ restore, source }: RestoreFacts): Waiting | undefined {
  if (restore.spec.keepMacAddress !== true || !source) return undefined;
  const { namespace = '', name = '' } = source.metadata;
  return {
    reason: 'MacAddressInUse',
    text: 'The virtual machine that the snapshot is of is there and has the MAC addresses',
    nature: 'fault',
    wayOut: 'delete it and make it without keepMacAddress, or delete that virtual machine',
    object: { kind: 'VirtualMachine', namespace, name },
  };
}
