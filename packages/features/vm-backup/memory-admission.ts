import type { AdmissionVerdict, KubeObject } from '@sheaf/api';
import {
  type VirtualMachineBackup,
  type VirtualMachineRestore,
  withMemoryAnnotation,
} from '@sheaf/api/virtualization/index';
import { invalid } from './admission-words.ts';
import { hasMemory, memoryWord } from './kept-memory.ts';

const field = `metadata.annotations[${withMemoryAnnotation}]`;

/** Whether memory is wanted is said in one of two words. */
export function checkMemoryWord(object: KubeObject): AdmissionVerdict | undefined {
  const word = memoryWord(object);
  if (word === undefined || word === 'true' || word === 'false') return undefined;
  return invalid(
    field,
    `${withMemoryAnnotation} is ${JSON.stringify(word)}, which is neither "true" nor "false"`,
    'Set it to "true" for the memory of the machine, or leave it out.',
  );
}

/** What a snapshot holds is decided when it is made. */
export function checkMemoryKept(
  backup: KubeObject,
  old: KubeObject | undefined,
): AdmissionVerdict | undefined {
  if (!old || memoryWord(backup) === memoryWord(old)) return undefined;
  return invalid(
    field,
    'whether a VirtualMachineBackup has the memory of its machine cannot be changed',
    'Delete it and make another, or leave the annotation as it is.',
  );
}

/** What a guest knows of itself goes on with it: so another machine must be the same one, as far as others can tell. */
export function checkMemoryOf(
  restore: VirtualMachineRestore,
  backup: VirtualMachineBackup,
): AdmissionVerdict | undefined {
  if (memoryWord(restore) !== 'true') return undefined;
  if (!hasMemory(backup))
    return invalid(
      field,
      `VMBackup ${backup.metadata.name} was taken without the memory of its VM`,
      'Leave the annotation out: then the virtual machine boots from its disks.',
    );
  if (restore.spec.newVM !== true || keepsAddresses(restore, backup)) return undefined;
  return invalid(
    field,
    "a new VM can go on with memory only under the MAC addresses of the source VM, which have to stand in that VM's interfaces",
    'Set keepMacAddress to true, if they do, or leave the annotation out: then the new virtual machine boots from its disks.',
  );
}

function keepsAddresses({ spec }: VirtualMachineRestore, { status }: VirtualMachineBackup): boolean {
  const { interfaces = [] } = status?.source?.spec?.template.spec?.domain.devices ?? {};
  return spec.keepMacAddress === true && interfaces.every(({ macAddress = '' }) => macAddress !== '');
}
