import type { KubeObject, WaitedFor, Waiting } from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineInstance,
  VirtualMachineRestore,
  VirtualMachineRestoreStatus,
} from '@sheaf/api/virtualization/index';
import type { OldVolumeFacts, RemovalStep } from './old-volumes.ts';
import { conditionsOf } from './outcome.ts';
import type { SecretStep } from './restored-secrets.ts';

export interface RestoreFacts extends OldVolumeFacts {
  readonly restore: VirtualMachineRestore;
  readonly backup: VirtualMachineBackup | undefined;
  /** The machine of the name that is to be restored to. */
  readonly target: VirtualMachine | undefined;
  /** That of the target. */
  readonly instance: VirtualMachineInstance | undefined;
  /** The machine that the snapshot is of. */
  readonly source: VirtualMachine | undefined;
  /** All that the restore may touch, as the server has them. */
  readonly secrets: ReadonlyMap<string, KubeObject>;
  readonly now: string;
}

/** What is done in one pass, in this order of kinds. */
export type RestoreStep =
  | { readonly action: 'create-claim'; readonly claim: PersistentVolumeClaim }
  | SecretStep
  | { readonly action: 'create-machine'; readonly machine: VirtualMachine }
  /** Only if nothing of it runs: that is asked at the server once more. */
  | { readonly action: 'replace-disks'; readonly machine: VirtualMachine }
  | { readonly action: 'start-machine'; readonly machine: VirtualMachine }
  | RemovalStep;

export interface RestorePlan {
  readonly steps: readonly RestoreStep[];
  /** `undefined`: nothing is to be said. */
  readonly status: VirtualMachineRestoreStatus | undefined;
  readonly waiting: Waiting | undefined;
}

export function targetLost(restore: VirtualMachineRestore): Waiting {
  return {
    reason: 'TargetLost',
    text: 'The virtual machine that it has begun with is not there any more',
    nature: 'fault',
    wayOut: 'delete it, and restore once more if you want to',
    object: targetOf(restore),
  };
}

export function targetOf({ metadata, spec }: VirtualMachineRestore): WaitedFor {
  return { kind: 'VirtualMachine', namespace: metadata.namespace ?? '', name: spec.target.name };
}

/** Nothing is done, and this is why. */
export function toldWaiting(facts: RestoreFacts, waiting: Waiting | undefined): RestorePlan {
  return { steps: [], status: toldStatus(facts, {}, waiting), waiting };
}

export function toldStatus(
  { restore, now }: RestoreFacts,
  found: VirtualMachineRestoreStatus,
  waiting: Waiting | undefined,
): VirtualMachineRestoreStatus {
  const { status } = restore;
  const conditions = conditionsOf(status?.conditions, waiting, now) ?? [];
  return { progress: 0, complete: false, ...status, ...found, conditions };
}
