import assert from 'node:assert/strict';
import type {
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineRestore,
} from '@sheaf/api/virtualization/index';
import type { RestoreFacts, RestorePlan, RestoreStep } from './restore-facts.ts';
import { planRestore } from './restore-plan.ts';

/** A machine with a disk and a Secret, a snapshot of it, and a restore to another one. */
export const now = '2026-01-01T00:00:00Z';
export const namespace = 'default';
export const source: VirtualMachine = {
  metadata: {
    namespace,
    name: 'm',
    uid: 'm-1',
    annotations: { 'harvesterhci.io/volumeClaimTemplates': '[]', kept: 'yes' },
  },
  spec: {
    runStrategy: 'Halted',
    template: {
      metadata: { labels: { 'harvesterhci.io/vmName': 'm' } },
      spec: {
        domain: {
          firmware: { uuid: 'x', bootloader: { efi: {} } },
          devices: { interfaces: [{ name: 'n', masquerade: {}, macAddress: '02:00:00:00:00:01' }] },
        },
        volumes: [
          { name: 'root', dataVolume: { name: 'v' } },
          { name: 'seed', cloudInitNoCloud: { secretRef: { name: 'words' } } },
        ],
      },
    },
  },
};
export const data = { userdata: 'aGk=' };
export const backup: VirtualMachineBackup = {
  metadata: { namespace, name: 's' },
  spec: { type: 'snapshot', source: { kind: 'VirtualMachine', name: 'm' } },
  status: {
    readyToUse: true,
    sourceUID: 'm-1',
    source: { metadata: source.metadata, spec: source.spec },
    volumeBackups: [
      {
        name: 's-volume-v',
        volumeName: 'root',
        csiDriverName: 'd',
        persistentVolumeClaim: { metadata: { name: 'v' }, spec: { storageClassName: 'c' } },
        volumeSize: 4096,
      },
    ],
    secretBackups: [{ name: 'words', data }],
  },
};
export const restore: VirtualMachineRestore = {
  metadata: { namespace, name: 'r', uid: 'u' },
  spec: {
    newVM: true,
    target: { kind: 'VirtualMachine', name: 'n' },
    virtualMachineBackupName: 's',
    virtualMachineBackupNamespace: namespace,
  },
};

/** A claim that has its volume. */
export const bound = {
  metadata: { namespace, name: 'restore-s-u-root' },
  spec: {},
  status: { phase: 'Bound' },
};

export function planOf(facts: Partial<RestoreFacts>): RestorePlan {
  return planRestore({
    restore,
    backup,
    target: undefined,
    instance: undefined,
    source,
    findClaim: () => undefined,
    machines: [source],
    snapshots: [],
    secrets: new Map(),
    now,
    ...facts,
  });
}

type StepOf<Action extends RestoreStep['action']> = Extract<RestoreStep, { readonly action: Action }>;

/** The only step of its kind. */
export function stepOf<Action extends RestoreStep['action']>(
  { steps }: RestorePlan,
  action: Action,
): StepOf<Action> {
  const [step, ...more] = steps.filter((each): each is StepOf<Action> => each.action === action);
  assert.ok(step && more.length === 0, `one ${action} among ${steps.map((each) => each.action).join(', ')}`);
  return step;
}

export function actionsOf({ steps }: RestorePlan): readonly string[] {
  return steps.map(({ action }) => action);
}
