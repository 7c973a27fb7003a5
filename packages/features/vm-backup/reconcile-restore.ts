import { type KubeObject, timestampOf, type Waiting } from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineInstance,
  VirtualMachineRestore,
  VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { type Clock, type JsonObject, jsonEqual, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type EventRecorder, type ObjectCache, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { ownerReferenceTo } from './machine-owner.ts';
import { type RemovalStep, removalAwaited } from './old-volumes.ts';
import { type RestoreFacts, type RestorePlan, type RestoreStep, toldWaiting } from './restore-facts.ts';
import { planRestore } from './restore-plan.ts';
import { secretsAround } from './restored-secrets.ts';
import { refusalOf } from './step-refusal.ts';
import { isOff } from './target-state.ts';

export interface RestoreParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly backups: ObjectCache<VirtualMachineBackup>;
  readonly restores: ObjectCache<VirtualMachineRestore>;
  readonly machines: ObjectCache<VirtualMachine>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly snapshots: ObjectCache<VolumeSnapshot>;
}

/** Secrets are not watched, and what holds a volume back may pass without a word. */
const againMs = 5000;
const faultMs = 60_000;

/** One pass over a restore: its steps, in their order, then its status. A step that is refused is taken again in a later pass. */
export async function reconcileRestore(
  parts: RestoreParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const restore = parts.restores.get(key);
  if (!restore) return done;
  const facts = await readRestore(parts, restore, signal);
  const wanted = planRestore(facts);
  let held: Waiting | undefined;
  const refusal = await refusalOf(async () => {
    for (const step of wanted.steps) held = (await take(parts.client, step, signal)) ?? held;
  });
  const obstacle = refusal ?? held;
  const plan = obstacle ? toldWaiting(facts, obstacle) : wanted;
  await write(parts.client, { restore, plan, target: facts.target }, signal);
  tell(parts.recorder, restore, plan);
  if (!plan.waiting) return done;
  return waitFor(plan.waiting.text, plan.waiting.nature === 'fault' ? faultMs : againMs);
}

async function readRestore(
  parts: RestoreParts,
  restore: VirtualMachineRestore,
  signal: AbortSignal,
): Promise<RestoreFacts> {
  const { namespace = '' } = restore.metadata;
  const { virtualMachineBackupNamespace, virtualMachineBackupName, target } = restore.spec;
  const backup = parts.backups.get(`${virtualMachineBackupNamespace}/${virtualMachineBackupName}`);
  return {
    restore,
    backup,
    target: parts.machines.get(`${namespace}/${target.name}`),
    instance: parts.instances.get(`${namespace}/${target.name}`),
    source: parts.machines.get(`${namespace}/${backup?.spec.source.name ?? ''}`),
    findClaim: (name) => parts.claims.get(`${namespace}/${name}`),
    machines: parts.machines.list(namespace),
    snapshots: parts.snapshots.list(namespace),
    secrets:
      backup && restore.status?.complete !== true
        ? await readSecrets(parts.client, { namespace, names: secretsAround(restore, backup) }, signal)
        : new Map(),
    now: timestampOf(parts.clock),
  };
}

/** Those that are there. */
export async function readSecrets(
  client: Client,
  { namespace, names }: { readonly namespace: string; readonly names: readonly string[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  for (const name of names) {
    const secret = await client.find<KubeObject>(resources.secrets, { namespace, name }, signal);
    if (secret) found.set(name, secret);
  }
  return found;
}

/** Resolves to what stands against it, where that passes by itself. */
async function take(client: Client, step: RestoreStep, signal: AbortSignal): Promise<Waiting | undefined> {
  const query = { signal };
  switch (step.action) {
    case 'create-claim':
      await unless('AlreadyExists', client.create(resources.persistentVolumeClaims, step.claim, query));
      return undefined;
    case 'create-secret':
      await unless('AlreadyExists', client.create(resources.secrets, step.secret, query));
      return undefined;
    case 'update-secret':
      await client.update(resources.secrets, step.secret, query);
      return undefined;
    case 'create-machine':
      await unless('AlreadyExists', client.create(resources.virtualMachines, step.machine, query));
      return undefined;
    case 'start-machine':
      await client.update(resources.virtualMachines, step.machine, query);
      return undefined;
    case 'replace-disks':
      await replaceDisks(client, step.machine, signal);
      return undefined;
    default:
      return await remove(client, step, signal);
  }
}

/**
 * That nothing runs is asked at the server. Nothing comes to run meanwhile without a change of the machine, and then the write is
 * refused.
 */
async function replaceDisks(client: Client, machine: VirtualMachine, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '' } = machine.metadata;
  const place = { namespace, name };
  const instance = await client.find(resources.virtualMachineInstances, place, signal);
  const current = await client.get(resources.virtualMachines, place, signal);
  if (isOff(current, instance)) await client.update(resources.virtualMachines, machine, { signal });
}

/** A volume that its machine has not let go of yet is refused; it is tried again. */
async function remove(
  client: Client,
  { action, ref, uid }: RemovalStep,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const resource = action === 'delete-claim' ? resources.persistentVolumeClaims : resources.dataVolumes;
  try {
    await client.delete(resource, ref, { uid, signal });
    return undefined;
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return undefined;
    if (!StatusError.is(error, 'Invalid') && !StatusError.is(error, 'Conflict')) throw error;
    return { ...removalAwaited, text: `A volume that was replaced cannot be deleted yet: ${error.message}` };
  }
}

async function write(
  client: Client,
  {
    restore,
    plan,
    target,
  }: {
    readonly restore: VirtualMachineRestore;
    readonly plan: RestorePlan;
    readonly target: VirtualMachine | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  if (!plan.status) return;
  const isOwned = restore.metadata.ownerReferences !== undefined || plan.status.complete !== true || !target;
  const metadata = isOwned
    ? restore.metadata
    : { ...restore.metadata, ownerReferences: [ownerReferenceTo(target)] };
  if (isOwned && jsonEqual(plan.status as JsonObject, (restore.status ?? {}) as JsonObject)) return;
  await client.update(
    resources.virtualMachineRestores,
    { ...restore, metadata, status: plan.status },
    { signal },
  );
}

/** As Harvester words it. */
function tell(recorder: EventRecorder, { metadata }: VirtualMachineRestore, plan: RestorePlan): void {
  const { namespace = '', name = '', uid = '' } = metadata;
  const about = { resource: resources.virtualMachineRestores, namespace, name, uid };
  if (plan.status?.complete === true) {
    const message = `Successfully completed VirtualMachineRestore ${name}`;
    recorder.record({ about, type: 'Normal', reason: 'VirtualMachineRestoreComplete', message });
  }
  if (plan.waiting?.nature !== 'fault') return;
  const message = `VirtualMachineRestore encountered error ${plan.waiting.text}; ${plan.waiting.wayOut ?? ''}`;
  recorder.record({ about, type: 'Warning', reason: 'VirtualMachineRestoreError', message });
}

/** What has been done already is seen in the pass that its change brings about. */
async function unless(reason: 'AlreadyExists', act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => {
    if (!StatusError.is(error, reason)) throw error;
  });
}
