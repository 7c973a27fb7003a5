import { claimNameOf, type InstanceSpec, isHotpluggable, type VolumeSpec } from './instance-spec.ts';
import { conflict, malformed, type Refused, type Subject } from './lifecycle-refusal.ts';
import type { LifecycleAnswer } from './lifecycle-request.ts';
import type {
  AddVolumeOptions,
  VirtualMachine,
  VirtualMachineInstance,
  VolumeRequest,
} from './virtual-machine.ts';
import { withVolumeRequest } from './volume-request.ts';

/** `PUT …/virtualmachines/NAME/addvolume`: kept for later starts. */
export function requestAddVolume(
  machine: VirtualMachine,
  options: Partial<AddVolumeOptions>,
): LifecycleAnswer {
  return checkedAdd(options) ?? changeMachine(machine, { addVolumeOptions: options as AddVolumeOptions });
}

/** `PUT …/virtualmachines/NAME/removevolume`. */
export function requestRemoveVolume(
  machine: VirtualMachine,
  options: { readonly name?: string },
): LifecycleAnswer {
  return (
    checkedRemove(options) ?? changeMachine(machine, { removeVolumeOptions: { name: options.name ?? '' } })
  );
}

/** `PUT …/virtualmachineinstances/NAME/addvolume`: for this run only. */
export function requestAddInstanceVolume(
  instance: VirtualMachineInstance,
  options: Partial<AddVolumeOptions>,
): LifecycleAnswer {
  return checkedAdd(options) ?? changeInstance(instance, { addVolumeOptions: options as AddVolumeOptions });
}

/** `PUT …/virtualmachineinstances/NAME/removevolume`. */
export function requestRemoveInstanceVolume(
  instance: VirtualMachineInstance,
  options: { readonly name?: string },
): LifecycleAnswer {
  const request = { removeVolumeOptions: { name: options.name ?? '' } };
  return checkedRemove(options) ?? changeInstance(instance, request);
}

function checkedAdd({ name, disk, volumeSource }: Partial<AddVolumeOptions>): Refused | undefined {
  if (name === undefined || name === '') return malformed('AddVolumeOptions requires name to be set');
  if (!disk) return malformed('AddVolumeOptions requires disk to not be nil');
  return volumeSource ? undefined : malformed('AddVolumeOptions requires VolumeSource to not be nil');
}

function checkedRemove({ name }: { readonly name?: string }): Refused | undefined {
  return name === undefined || name === ''
    ? malformed('RemoveVolumeOptions requires name to be set')
    : undefined;
}

function changeMachine(machine: VirtualMachine, request: VolumeRequest): LifecycleAnswer {
  const { template } = machine.spec;
  const refused = refusalOf(template.spec, request, {
    subject: 'virtualmachine',
    name: machine.metadata.name ?? '',
  });
  if (refused) return refused;
  const spec = {
    ...machine.spec,
    template: { ...template, spec: withVolumeRequest(template.spec, request) },
  };
  return { isAccepted: true, writes: [{ target: 'machine', object: { ...machine, spec } }] };
}

function changeInstance(instance: VirtualMachineInstance, request: VolumeRequest): LifecycleAnswer {
  const about = { subject: 'virtualmachineinstance', name: instance.metadata.name ?? '' } as const;
  if (instance.status?.phase !== 'Running')
    return conflict(about.subject, about.name, 'VMI is not running; change the virtual machine instead');
  const refused = refusalOf(instance.spec, request, about);
  if (refused) return refused;
  const spec = withVolumeRequest(instance.spec, request);
  return { isAccepted: true, writes: [{ target: 'instance', object: { ...instance, spec } }] };
}

interface About {
  readonly subject: Subject;
  readonly name: string;
}

function refusalOf(
  spec: InstanceSpec,
  request: VolumeRequest,
  { subject, name }: About,
): Refused | undefined {
  const volumes = spec.volumes ?? [];
  const text = request.addVolumeOptions
    ? reasonAgainstAdding(volumes, request.addVolumeOptions)
    : reasonAgainstRemoving(volumes, request.removeVolumeOptions?.name ?? '');
  return text === undefined ? undefined : conflict(subject, name, text);
}

function reasonAgainstAdding(
  volumes: readonly VolumeSpec[],
  { name, volumeSource }: AddVolumeOptions,
): string | undefined {
  if (volumes.some((volume) => volume.name === name))
    return `Unable to add volume [${name}] because volume with that name already exists; choose another name`;
  const source = claimNameOf({ ...volumeSource, name });
  if (source === undefined)
    return `Unable to add volume [${name}] because it is on no claim; name a PersistentVolumeClaim or DataVolume`;
  return volumes.some((volume) => claimNameOf(volume) === source)
    ? `Unable to add volume source [${source}] because it already exists; it is attached to this machine`
    : undefined;
}

function reasonAgainstRemoving(volumes: readonly VolumeSpec[], name: string): string | undefined {
  const volume = volumes.find((each) => each.name === name);
  if (!volume)
    return `Unable to remove volume [${name}] because it does not exist; see spec.volumes for the names`;
  return isHotpluggable(volume)
    ? undefined
    : `Unable to remove volume [${name}] because it is not hotpluggable; stop the machine and edit it`;
}
