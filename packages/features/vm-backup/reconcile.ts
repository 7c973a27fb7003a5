import { timestampOf } from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineInstance,
  VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { type Clock, type JsonObject, jsonEqual, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { type BackupFacts, planBackup, told } from './plan.ts';
import { readSecrets } from './reconcile-restore.ts';
import { secretNamesOf } from './secret-references.ts';
import { refusalOf } from './step-refusal.ts';

export interface BackupParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly backups: ObjectCache<VirtualMachineBackup>;
  readonly machines: ObjectCache<VirtualMachine>;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly snapshots: ObjectCache<VolumeSnapshot>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
}

const againMs = 30_000;

/** One pass over a snapshot of a machine: the snapshots of its volumes, then its status. */
export async function reconcileBackup(
  parts: BackupParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const backup = parts.backups.get(key);
  if (!backup) return done;
  const facts = await readBackup(parts, backup, signal);
  const wanted = planBackup(facts);
  const refusal = await refusalOf(async () => {
    for (const snapshot of wanted.snapshots)
      await make(parts.client.create(resources.volumeSnapshots, snapshot, { signal }));
  });
  const plan = refusal ? told(facts, {}, refusal) : wanted;
  if (plan.status && !isSame(plan.status, backup.status))
    await parts.client.update(
      resources.virtualMachineBackups,
      { ...backup, status: plan.status },
      { signal },
    );
  // Secrets are not watched.
  return plan.waiting ? waitFor(plan.waiting.text, againMs) : done;
}

async function readBackup(
  { client, clock, machines, instances, claims, snapshots }: BackupParts,
  backup: VirtualMachineBackup,
  signal: AbortSignal,
): Promise<BackupFacts> {
  const { namespace = '' } = backup.metadata;
  const machine = machines.get(`${namespace}/${backup.spec.source.name}`);
  const names = backup.status?.source ? [] : secretNamesOf(machine?.spec.template.spec);
  return {
    backup,
    machine,
    instance: instances.get(`${namespace}/${backup.spec.source.name}`),
    findClaim: (name) => claims.get(`${namespace}/${name}`),
    findSnapshot: (name) => snapshots.get(`${namespace}/${name}`),
    secrets: await readSecrets(client, { namespace, names }, signal),
    now: timestampOf(clock),
  };
}

/** One that is there already is looked at in the pass that its change brings about. */
async function make(creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  });
}

function isSame(a: object | undefined, b: object | undefined): boolean {
  return jsonEqual((a ?? {}) as JsonObject, (b ?? {}) as JsonObject);
}
