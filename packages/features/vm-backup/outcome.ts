import { type Condition, type WaitedFor, type Waiting, waitingCondition, withCondition } from '@sheaf/api';
import type { VirtualMachineBackupStatus } from '@sheaf/api/virtualization/index';

type Conditions = VirtualMachineBackupStatus['conditions'];

/** Ready and InProgress: done, or what is waited for. */
export function conditionsOf(old: Conditions, waiting: Waiting | undefined, now: string): Conditions {
  const before = (old ?? []) as readonly Condition[];
  const isBusy = waiting?.nature === 'transient';
  const ready = waiting
    ? waitingCondition({ type: 'Ready', status: 'False' }, waiting)
    : { type: 'Ready', status: 'True' as const, reason: 'Complete', message: 'Everything is done' };
  const progress = isBusy
    ? waitingCondition({ type: 'InProgress', status: 'True' }, waiting)
    : {
        type: 'InProgress',
        status: 'False' as const,
        reason: waiting?.reason ?? 'Complete',
        message: waiting ? 'Nothing is done until someone acts' : 'Nothing is left to do',
      };
  return withCondition(withCondition(before, ready, now), progress, now);
}

/** The words of the house, where there is a place for one text only. */
export function messageOf(waiting: Waiting): string {
  const { message = '' } = waitingCondition({ type: 'Ready', status: 'False' }, waiting);
  return `${waiting.reason}: ${message}`;
}

/** There is no place outside of this machine to which anything is copied. */
export const noBackupTarget: Waiting = {
  reason: 'BackupTargetMissing',
  text: 'Copies on a backup target are not made yet',
  nature: 'fault',
  wayOut: 'delete it, and take a snapshot instead, which stays on this machine: type snapshot',
};

/** What a snapshot or a claim says of itself. What does not say that it is tried again needs someone. */
export function waitingOf(message: string, object: WaitedFor): Waiting {
  const [, reason = 'SnapshotFailed', rest = message] = /^([A-Z][A-Za-z]+): (.*)$/s.exec(message) ?? [];
  const [text = rest, ...parts] = rest.split('; ');
  const told = parts.find((part) => part.startsWith('needs someone: '))?.slice('needs someone: '.length);
  if (told === undefined && parts.includes('tried again by itself'))
    return { reason, text, nature: 'transient', object };
  const wayOut = told ?? 'delete this and make another, once what it names is well';
  return { reason, text, nature: 'fault', wayOut, object };
}

/** What needs someone comes before what passes by itself. */
export function firstFault(...waits: readonly (Waiting | undefined)[]): Waiting | undefined {
  const all = waits.filter((each) => each !== undefined);
  return all.find(({ nature }) => nature === 'fault') ?? all[0];
}
