import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionVerdict,
  allow,
  deny,
  dns1123SubdomainErrors,
} from '@sheaf/api';
import {
  type PersistentVolumeClaim,
  type VirtualMachine,
  type VirtualMachineBackup,
  type VirtualMachineInstance,
  type VirtualMachineRestore,
  type VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { type JsonObject, jsonEqual } from '@sheaf/base';
import {
  backups,
  claims,
  firstOf,
  instances,
  invalid,
  machines,
  restores,
  snapshots,
} from './admission-words.ts';
import { checkMemoryOf, checkMemoryWord } from './memory-admission.ts';
import { replacedClaims, snapshotsThatGoWith } from './old-volumes.ts';
import { isOff } from './target-state.ts';

/** What restores may ask for. A snapshot that is yet to come, or to become ready, is waited for. */
export const restoreRule: AdmissionRule = {
  name: 'virtual-machine-restore',
  targets: [restores],
  operations: ['CREATE', 'UPDATE'],
  reads: [backups, restores, machines, instances, claims, snapshots],
  async validate(object, old, context) {
    if (!object || object.metadata.deletionTimestamp !== undefined) return allow();
    const restore = object as VirtualMachineRestore;
    if (!old) return await checkNew(restore, context);
    const { spec } = old as VirtualMachineRestore;
    return jsonEqual(asObject(spec), asObject(restore.spec))
      ? allow()
      : invalid(
          'spec',
          'VirtualMachineRestore spec is immutable',
          'Delete it and make another, or leave its spec as it is.',
        );
  },
};

function asObject(spec: object): JsonObject {
  return spec as JsonObject;
}

interface Asked {
  readonly restore: VirtualMachineRestore;
  readonly context: AdmissionContext;
  readonly backup: VirtualMachineBackup | undefined;
  readonly target: VirtualMachine | undefined;
}

async function checkNew(
  restore: VirtualMachineRestore,
  context: AdmissionContext,
): Promise<AdmissionVerdict> {
  const { namespace, objects } = context;
  const { virtualMachineBackupName, virtualMachineBackupNamespace, target, newVM } = restore.spec;
  const place = { namespace: virtualMachineBackupNamespace, name: virtualMachineBackupName };
  if (!(await context.may({ verb: 'get', ...backups, ...place })))
    return deny({
      reason: 'Forbidden',
      message: `you may not read the VMBackup ${place.namespace}/${place.name}`,
      wayOut: 'Ask for the right to get it.',
    });
  const asked: Asked = {
    restore,
    context,
    backup: objects.find(backups, place) as VirtualMachineBackup | undefined,
    target: objects.find(machines, { namespace, name: target.name }) as VirtualMachine | undefined,
  };
  const checks = newVM === true ? [newName, freeAddresses] : [present, stopped, onlyOne, policy];
  return (
    firstOf(...[validName, sameNamespace, memory, ...checks].map((check) => () => check(asked))) ?? allow()
  );
}

function validName({ restore }: Asked): AdmissionVerdict | undefined {
  const [problem] = dns1123SubdomainErrors(restore.spec.target.name);
  if (problem === undefined) return undefined;
  return invalid('spec.target.name', `Target VM name is invalid, err: ${problem}`, 'Choose another name.');
}

function sameNamespace({ restore, context, backup }: Asked): AdmissionVerdict | undefined {
  const { virtualMachineBackupNamespace: namespace } = restore.spec;
  if (backup?.spec.type !== 'snapshot' || namespace === context.namespace) return undefined;
  return invalid(
    'spec.virtualMachineBackupName',
    'restore to other namespace with backup type snapshot is not supported',
    `Make the restore in the namespace ${namespace}.`,
  );
}

function memory({ restore, backup }: Asked): AdmissionVerdict | undefined {
  return checkMemoryWord(restore) ?? (backup && checkMemoryOf(restore, backup));
}

function newName({ target }: Asked): AdmissionVerdict | undefined {
  if (!target) return undefined;
  return invalid(
    'spec.newVM',
    `VM ${target.metadata.name} is already exists`,
    'Choose another name for the target, or set newVM to false to replace the disks of that virtual machine.',
  );
}

function freeAddresses({ restore, context, backup }: Asked): AdmissionVerdict | undefined {
  if (restore.spec.keepMacAddress !== true || !backup) return undefined;
  const place = { namespace: backup.metadata.namespace ?? '', name: backup.spec.source.name };
  const source = context.objects.find(machines, place);
  if (!source || source.metadata.uid !== backup.status?.sourceUID) return undefined;
  return invalid(
    'spec.keepMacAddress',
    "can't restore the new vm with the same macaddress because the source vm is still existent",
    'Leave keepMacAddress out, or delete that virtual machine first.',
  );
}

function present({ restore, target }: Asked): AdmissionVerdict | undefined {
  if (target && target.metadata.deletionTimestamp === undefined) return undefined;
  return invalid(
    'spec.target.name',
    `can't replace nonexistent vm ${restore.spec.target.name}`,
    'Set newVM to true: then the virtual machine is made.',
  );
}

function stopped({ target, context }: Asked): AdmissionVerdict | undefined {
  if (!target) return undefined;
  const { namespace = '', name = '' } = target.metadata;
  const instance = context.objects.find(instances, { namespace, name });
  if (isOff(target, instance as VirtualMachineInstance | undefined)) return undefined;
  return invalid(
    'spec.target.name',
    `Please stop the VM "${name}" before doing a restore`,
    `Stop it, e.g. with virtctl stop ${name} -n ${namespace}, and make the restore once it shows Stopped.`,
  );
}

function onlyOne({ restore, context }: Asked): AdmissionVerdict | undefined {
  const { namespace } = context;
  const { name } = restore.spec.target;
  const other = (context.objects.list(restores, namespace) as readonly VirtualMachineRestore[]).find(
    ({ spec, status, metadata }) =>
      spec.target.name === name && status?.complete !== true && metadata.deletionTimestamp === undefined,
  );
  if (!other) return undefined;
  return invalid(
    'spec.target.name',
    `Please wait for the previous VM restore on the ${namespace}/${name} to be complete first.`,
    `If it does not go on, its conditions say why; delete it with kubectl delete vmrestore ${other.metadata.name} -n ${namespace}.`,
  );
}

/** What becomes of the volumes that are replaced must be said: nothing is lost by leaving it out. */
function policy(asked: Asked): AdmissionVerdict | undefined {
  const { deletionPolicy } = asked.restore.spec;
  if (deletionPolicy === 'retain') return undefined;
  if (deletionPolicy === 'delete') return lostSnapshots(asked);
  return invalid(
    'spec.deletionPolicy',
    'deletionPolicy has to say what becomes of the volumes that are replaced',
    'Set it to retain, and they are kept, or to delete, and they go with all that was written since the snapshot.',
  );
}

function lostSnapshots({ target, backup, context }: Asked): AdmissionVerdict | undefined {
  const { namespace, objects } = context;
  const names = target ? replacedClaims(target, backup?.status?.volumeBackups ?? []) : [];
  const taken = objects.list(snapshots, namespace) as readonly VolumeSnapshot[];
  for (const name of names) {
    const claim = objects.find(claims, { namespace, name }) as PersistentVolumeClaim | undefined;
    const lost = claim ? snapshotsThatGoWith(claim, taken).map(({ metadata }) => metadata.name) : [];
    if (lost.length > 0)
      return invalid(
        'spec.deletionPolicy',
        `can't use delete policy, the volume "${namespace}/${name}" is used by the snapshots ${lost.join(', ')}`,
        'Delete those first, or set the deletionPolicy to retain.',
      );
  }
  return undefined;
}
