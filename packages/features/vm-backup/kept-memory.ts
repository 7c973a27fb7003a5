import type { KubeObject, Waiting } from '@sheaf/api';
import {
  type MemoryStart,
  type VirtualMachine,
  type VirtualMachineBackup,
  type VirtualMachineInstance,
  type VirtualMachineRestore,
  type VirtualMachineSpec,
  withMemoryAnnotation,
} from '@sheaf/api/virtualization/index';
import { claimNameOf } from './source-disks.ts';

type Volume = NonNullable<NonNullable<VirtualMachineSpec['template']['spec']>['volumes']>[number];

/** A snapshot that is taken, or was, with what the machine has in its memory. */
export function hasMemory(backup: KubeObject): boolean {
  return memoryWord(backup) === 'true';
}

/** What an object says about memory; `undefined`: nothing. */
export function memoryWord({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[withMemoryAnnotation];
}

/** A machine goes on by itself; another one only where that is asked for. */
export function goesOnWithMemory(restore: VirtualMachineRestore, backup: VirtualMachineBackup): boolean {
  const wanted = memoryWord(restore) ?? (restore.spec.newVM === true ? 'false' : 'true');
  return hasMemory(backup) && wanted === 'true';
}

/** With what the restored machine is to start; `undefined`: it boots. */
export function memoryStartFor(
  restore: VirtualMachineRestore,
  backup: VirtualMachineBackup,
  claims: ReadonlyMap<string, string>,
): MemoryStart | undefined {
  if (!goesOnWithMemory(restore, backup)) return undefined;
  return { memoryId: backup.metadata.uid ?? '', claims: [...claims.values()] };
}

/** What every start makes anew, always the same. */
const madeAnew = [
  'cloudInitNoCloud',
  'cloudInitConfigDrive',
  'configMap',
  'secret',
  'serviceAccount',
  'downwardAPI',
  'sysprep',
] as const;

/** Why the memory of a machine cannot be kept with its disks; `undefined`: as far as one can see, it can. */
export function obstacleToMemory(
  machine: VirtualMachine,
  instance: VirtualMachineInstance | undefined,
): Waiting | undefined {
  const { namespace = '', name = '' } = machine.metadata;
  const obstacle = stateObstacle(machine, instance) ?? volumeObstacle(machine);
  if (!obstacle) return undefined;
  return { ...obstacle, nature: 'fault', object: { kind: 'VirtualMachine', namespace, name } };
}

type Obstacle = Pick<Waiting, 'reason' | 'text'> & { readonly wayOut: string };

function stateObstacle(
  { status }: VirtualMachine,
  instance: VirtualMachineInstance | undefined,
): Obstacle | undefined {
  const { phase, conditions } = instance?.status ?? {};
  if (phase !== 'Running') return notRunning('does not run', 'start');
  if (isTrue(conditions, 'Paused')) return notRunning('is paused', 'unpause');
  if (!isTrue(status?.conditions, 'RestartRequired')) return undefined;
  return {
    reason: 'RestartRequired',
    text: 'The virtual machine has been changed since it was started, so that it could not go on with its memory',
    wayOut: 'restart it, or delete this and take it without memory',
  };
}

function notRunning(state: string, verb: string): Obstacle {
  return {
    reason: 'MachineNotRunning',
    text: `It is to be taken with the memory of a virtual machine that ${state}`,
    wayOut: `${verb} it, or delete this and take it without memory`,
  };
}

function isTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return conditions?.some((each) => each.type === type && each.status === 'True') === true;
}

function volumeObstacle({ spec }: VirtualMachine): Obstacle | undefined {
  const volumes = spec.template.spec?.volumes ?? [];
  const lost = volumes.find((volume) => claimNameOf(volume) === undefined && !isMadeAnew(volume));
  if (lost)
    return {
      reason: 'DiskNotKept',
      text: `Its disk ${lost.name} goes with each run, and what the memory knows of it would be wrong`,
      wayOut: 'put the disk on a claim, or delete this and take it without memory',
    };
  if (volumes.some((volume) => claimNameOf(volume) !== undefined)) return undefined;
  return {
    reason: 'NoDisks',
    text: 'It has no disk on a claim, so there is nothing that its memory could be kept with',
    wayOut: 'give it a disk on a claim, or delete this',
  };
}

function isMadeAnew(volume: Volume): boolean {
  return madeAnew.some((kind) => volume[kind] !== undefined);
}
