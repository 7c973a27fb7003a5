import type { DiskSpec, InstanceSpec, VolumeSpec } from './instance-spec.ts';
import type { VirtualMachine, VolumeRequest } from './virtual-machine.ts';

/** Requests that the template does not show yet. */
export function pendingVolumeRequests({ spec, status }: VirtualMachine): readonly VolumeRequest[] {
  return (status?.volumeRequests ?? []).filter((request) => !isDone(spec.template.spec, request));
}

/** The machine with all its requests in the template; `undefined` if they are there. */
export function withVolumeRequests(machine: VirtualMachine): VirtualMachine | undefined {
  const pending = pendingVolumeRequests(machine);
  if (pending.length === 0) return undefined;
  const template = machine.spec.template;
  const spec = pending.reduce(withVolumeRequest, template.spec);
  return { ...machine, spec: { ...machine.spec, template: { ...template, spec } } };
}

/** The template or instance with one volume more or less. */
export function withVolumeRequest(spec: InstanceSpec, request: VolumeRequest): InstanceSpec {
  const name = nameOf(request);
  const volumes = (spec.volumes ?? []).filter((volume) => volume.name !== name);
  const disks = (spec.domain.devices.disks ?? []).filter((disk) => disk.name !== name);
  const added = request.addVolumeOptions;
  return {
    ...spec,
    volumes: added ? [...volumes, volumeOf(name, added.volumeSource)] : volumes,
    domain: {
      ...spec.domain,
      devices: { ...spec.domain.devices, disks: added ? [...disks, diskOf(name, added.disk)] : disks },
    },
  };
}

function diskOf(name: string, disk: Omit<DiskSpec, 'name'>): DiskSpec {
  const hasTarget = disk.disk ?? disk.cdrom ?? disk.lun;
  return { ...disk, ...(hasTarget ? {} : { disk: { bus: 'scsi' } }), name };
}

function volumeOf(name: string, source: Omit<VolumeSpec, 'name'>): VolumeSpec {
  const { persistentVolumeClaim, dataVolume } = source;
  if (persistentVolumeClaim)
    return { name, persistentVolumeClaim: { ...persistentVolumeClaim, hotpluggable: true } };
  return dataVolume ? { name, dataVolume: { ...dataVolume, hotpluggable: true } } : { ...source, name };
}

function nameOf({ addVolumeOptions, removeVolumeOptions }: VolumeRequest): string {
  return addVolumeOptions?.name ?? removeVolumeOptions?.name ?? '';
}

function isDone(spec: InstanceSpec, request: VolumeRequest): boolean {
  const name = nameOf(request);
  const hasVolume = spec.volumes?.some((volume) => volume.name === name) === true;
  const hasDisk = spec.domain.devices.disks?.some((disk) => disk.name === name) === true;
  return request.addVolumeOptions ? hasVolume && hasDisk : !hasVolume && !hasDisk;
}
