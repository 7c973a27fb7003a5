import { effectiveText, jsonObjectOf, SettingProblem } from '@sheaf/api/setting/index';
import { type ResourceRef, resources } from '@sheaf/client';
import { type Action, type ActionCall, refused, requiredText, textOf } from './action-call.ts';

export const backupActions: Readonly<Record<string, Action>> = {
  backup,
  restore,
  // Whoever wants a snapshot makes a VirtualMachineBackup of type snapshot: clients of Harvester call this and do it as well.
  snapshot: () => Promise.resolve(undefined),
};

async function backup(call: ActionCall): Promise<undefined> {
  const name = requiredText(call, 'name');
  const { client, place, signal } = call;
  await mayCreate(call, resources.virtualMachineBackups);
  await requireTarget(call);
  const deadline = textOf(call, 'fsFreezeDeadline');
  const spec = {
    source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: place.name },
    type: 'backup' as const,
    ...(deadline === '' ? {} : { fsFreezeDeadline: deadline }),
  };
  const metadata = { namespace: place.namespace, name };
  await client.create(resources.virtualMachineBackups, { metadata, spec }, { signal });
  return undefined;
}

async function restore(call: ActionCall): Promise<undefined> {
  const name = requiredText(call, 'name');
  const backupName = requiredText(call, 'backupName');
  const { client, place, body, signal } = call;
  const { namespace } = place;
  await mayCreate(call, resources.virtualMachineRestores);
  await mayRead(call, resources.virtualMachineBackups, backupName);
  const ref = { namespace, name: backupName };
  const found = await client.get(resources.virtualMachineBackups, ref, signal);
  const isHere = found.spec.type === 'snapshot';
  if (!isHere) await requireTarget(call);
  const spec = {
    target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: place.name },
    virtualMachineBackupNamespace: namespace,
    virtualMachineBackupName: backupName,
    newVM: false,
    // The request cannot say it: what is on this machine is kept until someone deletes it.
    ...(isHere ? { deletionPolicy: 'retain' } : {}),
    ...(body['keepMacAddress'] === true ? { keepMacAddress: true } : {}),
    ...(body['haltAfterRestore'] === true ? { haltAfterRestore: true } : {}),
  };
  await client.create(resources.virtualMachineRestores, { metadata: { namespace, name }, spec }, { signal });
  return undefined;
}

export async function mayCreate({ request, place }: ActionCall, resource: ResourceRef): Promise<void> {
  const { group, plural } = resource;
  await request.authorize({ verb: 'create', group, resource: plural, namespace: place.namespace });
}

async function mayRead({ request, place }: ActionCall, resource: ResourceRef, name: string): Promise<void> {
  const { group, plural } = resource;
  await request.authorize({ verb: 'get', group, resource: plural, namespace: place.namespace, name });
}

async function requireTarget({ client, signal }: ActionCall): Promise<void> {
  const setting = await client.find(resources.settings, { name: 'backup-target' }, signal);
  if (setting && namesTarget(effectiveText(setting))) return;
  throw refused(
    'backup target is invalid: there is none yet; set the setting backup-target, or take a snapshot, which stays on this machine',
  );
}

function namesTarget(text: string): boolean {
  try {
    const { type, endpoint, bucketName } = jsonObjectOf(text);
    return typeof type === 'string' && type !== '' && (endpoint ?? bucketName ?? '') !== '';
  } catch (error) {
    if (error instanceof SettingProblem) return false;
    throw error;
  }
}
