import { type AdmissionContext, type AdmissionRule, type AdmissionVerdict, allow, deny } from '@sheaf/api';
import type {
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineRestore,
} from '@sheaf/api/virtualization/index';
import { type JsonObject, jsonEqual } from '@sheaf/base';
import { backups, invalid, machines, restores, secrets } from './admission-words.ts';
import { checkMemoryKept, checkMemoryWord } from './memory-admission.ts';
import { secretNamesOf } from './secret-references.ts';

/** What snapshots of machines may say, and when they may go. */
export const backupRule: AdmissionRule = {
  name: 'virtual-machine-backup',
  targets: [backups],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  reads: [machines, restores],
  async validate(object, old, context) {
    if (!object) return checkDeletion(context);
    if (object.metadata.deletionTimestamp !== undefined) return allow();
    const problem = checkMemoryWord(object) ?? checkMemoryKept(object, old);
    if (problem) return problem;
    const { spec } = object as VirtualMachineBackup;
    if (!old) return await checkNew(spec, context);
    const isSame = jsonEqual(asObject(spec), asObject((old as VirtualMachineBackup).spec));
    return isSame
      ? allow()
      : invalid(
          'spec',
          'VirtualMachineBackup spec is immutable',
          'Delete it and make another, or leave its spec as it is.',
        );
  },
};

function asObject(spec: object): JsonObject {
  return spec as JsonObject;
}

async function checkNew(
  { source }: VirtualMachineBackup['spec'],
  context: AdmissionContext,
): Promise<AdmissionVerdict> {
  if (source.name === '')
    return invalid('spec.source.name', 'source VM name is empty', 'Name the virtual machine.');
  return (await unreadableSecret(source.name, context)) ?? allow();
}

/**
 * What a machine is started with is read by a controller that may do everything, and stands in the snapshot: so whoever asks for that is
 * asked whether he may read it. Of a machine that is yet to come, it may be anything.
 */
async function unreadableSecret(
  machineName: string,
  { objects, namespace, may }: AdmissionContext,
): Promise<AdmissionVerdict | undefined> {
  const machine = objects.find(machines, { namespace, name: machineName }) as VirtualMachine | undefined;
  if (!machine) {
    if (await may({ verb: 'get', ...secrets, namespace })) return undefined;
    return deny({
      reason: 'Forbidden',
      message: `the virtual machine ${machineName} is not there yet, and may come with any Secret of ${namespace}, which you may not read`,
      wayOut: 'Make the virtual machine first.',
    });
  }
  for (const name of secretNamesOf(machine.spec.template.spec)) {
    if (await may({ verb: 'get', ...secrets, namespace, name })) continue;
    return deny({
      reason: 'Forbidden',
      message: `the snapshot would hold the Secret ${namespace}/${name}, which you may not read`,
      wayOut: 'Ask for the right to get it, or for the snapshot to be taken by someone who has it.',
    });
  }
  return undefined;
}

function checkDeletion({ objects, namespace, name }: AdmissionContext): AdmissionVerdict {
  const restore = (objects.list(restores) as readonly VirtualMachineRestore[]).find(
    ({ spec, status, metadata }) =>
      spec.virtualMachineBackupName === name &&
      spec.virtualMachineBackupNamespace === namespace &&
      metadata.deletionTimestamp === undefined &&
      status !== undefined &&
      status.complete !== true,
  );
  if (!restore) return allow();
  return deny({
    reason: 'Conflict',
    message: `vmrestore ${restore.metadata.namespace}/${restore.metadata.name} is in progress`,
    wayOut: 'Wait until it is complete, or delete that restore first.',
  });
}
