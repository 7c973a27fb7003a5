import type { AdmissionObjects, KubeObject } from '@sheaf/api';
import type { VirtualMachine, VirtualMachineInstance } from '@sheaf/api/virtualization/index';

const machines = { group: 'kubevirt.io', resource: 'virtualmachines' };
const instances = { group: 'kubevirt.io', resource: 'virtualmachineinstances' };
const migrations = { group: 'kubevirt.io', resource: 'virtualmachineinstancemigrations' };
const finalPhases: readonly string[] = ['Succeeded', 'Failed'];
/** A refusal names so many. */
const shown = 5;

/** `NAMESPACE/NAME` of the machines that are not stopped. */
export function runningMachines(objects: AdmissionObjects): readonly string[] {
  return objects
    .list(machines)
    .filter((machine) => !isStopped(machine as unknown as VirtualMachine, objects))
    .map((machine) => nameOf(machine));
}

function isStopped({ metadata, spec, status }: VirtualMachine, objects: AdmissionObjects): boolean {
  if (status?.printableStatus !== 'Stopped') return false;
  if (spec.runStrategy === 'Halted') return true;
  const { namespace = '', name = '' } = metadata;
  const instance = objects.find(instances, { namespace, name });
  return instance === undefined || isFinal(phaseOf(instance));
}

/** `NAMESPACE/NAME` of the migrations that have not come to an end. */
export function openMigrations(objects: AdmissionObjects): readonly string[] {
  return objects
    .list(migrations)
    .filter((migration) => !isFinal(phaseOf(migration)))
    .map((migration) => nameOf(migration));
}

function phaseOf(object: KubeObject): string {
  return (object as Pick<VirtualMachineInstance, 'metadata' | 'status'>).status?.phase ?? '';
}

function isFinal(phase: string): boolean {
  return finalPhases.includes(phase);
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** `a, b and 3 more`. */
export function listed(names: readonly string[]): string {
  const more = names.length - shown;
  return more > 0 ? `${names.slice(0, shown).join(', ')} and ${more} more` : names.join(', ');
}
