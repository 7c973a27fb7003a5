import type { WaitedFor, Waiting } from '@sheaf/api';
import { planNewMachine } from './new-machine-plan.ts';
import { noBackupTarget } from './outcome.ts';
import { planReplacement } from './replacement-plan.ts';
import { type RestoreFacts, type RestorePlan, toldWaiting } from './restore-facts.ts';

/** What is to be done for a restore, and what is to be seen of it. */
export function planRestore(facts: RestoreFacts): RestorePlan {
  const { restore, backup } = facts;
  if (restore.metadata.deletionTimestamp !== undefined || restore.status?.complete === true)
    return { steps: [], status: undefined, waiting: undefined };
  const waiting = orderWaiting(facts);
  if (waiting || !backup) return toldWaiting(facts, waiting);
  return restore.spec.newVM === true ? planNewMachine(facts, backup) : planReplacement(facts, backup);
}

function orderWaiting({ restore, backup }: RestoreFacts): Waiting | undefined {
  const { virtualMachineBackupName: name, virtualMachineBackupNamespace: namespace } = restore.spec;
  const object: WaitedFor = { kind: 'VirtualMachineBackup', namespace, name };
  if (!backup)
    return {
      reason: 'BackupNotFound',
      text: 'The snapshot that it is from is not there',
      nature: 'fault',
      wayOut: 'delete it and make it with a VirtualMachineBackup that is there',
      object,
    };
  if (backup.spec.type !== 'snapshot') return { ...noBackupTarget, object };
  if (namespace !== restore.metadata.namespace)
    return {
      reason: 'NamespaceDiffers',
      text: 'Snapshots are restored only within their namespace',
      nature: 'fault',
      wayOut: `delete it and make it in the namespace ${namespace}`,
      object,
    };
  if (backup.status?.readyToUse === true && backup.status.source?.spec) return undefined;
  return {
    reason: 'BackupNotReady',
    text: 'The snapshot that it is from is not ready',
    nature: 'transient',
    object,
  };
}
