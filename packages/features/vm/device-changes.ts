import type { AttachedDevice, MachineDisk, MachineNic, MachineObservation, MachineSpec } from '@sheaf/ports';

/** One change to a machine that runs. */
export type DeviceStep =
  | { readonly action: 'attach-disk'; readonly disk: MachineDisk }
  | { readonly action: 'detach-disk'; readonly name: string }
  /** Without a disk file: ejects. */
  | { readonly action: 'change-medium'; readonly name: string; readonly file: MachineDisk['file'] }
  | { readonly action: 'attach-nic'; readonly nic: MachineNic }
  | { readonly action: 'detach-nic'; readonly name: string }
  | { readonly action: 'set-sockets'; readonly sockets: number }
  | { readonly action: 'set-memory'; readonly bytes: number };

/** The first difference between what a machine is to have and what it has. Nothing is taken away but devices. */
export function planDevices(spec: MachineSpec, observation: MachineObservation): DeviceStep | undefined {
  return (
    planDisks(spec, observation) ??
    planNics(spec, observation) ??
    planProcessors(spec, observation) ??
    planMemory(spec, observation)
  );
}

function planDisks({ disks }: MachineSpec, { devices }: MachineObservation): DeviceStep | undefined {
  const attached = byName(devices, 'disk');
  const leaving = findUnwanted(attached, disks);
  if (leaving) return { action: 'detach-disk', name: leaving.name };
  for (const disk of disks) {
    const step = planDisk(disk, attached.get(disk.name));
    if (step) return step;
  }
  return undefined;
}

function planDisk(disk: MachineDisk, attached: AttachedDevice | undefined): DeviceStep | undefined {
  if (!attached) return { action: 'attach-disk', disk };
  if (disk.device !== 'cdrom' || attached.isLeaving || attached.path === disk.file?.path) return undefined;
  return { action: 'change-medium', name: disk.name, file: disk.file };
}

function planNics({ nics }: MachineSpec, { devices }: MachineObservation): DeviceStep | undefined {
  const attached = byName(devices, 'nic');
  const leaving = findUnwanted(attached, nics);
  if (leaving) return { action: 'detach-nic', name: leaving.name };
  const missing = nics.find(({ name }) => !attached.has(name));
  return missing && { action: 'attach-nic', nic: missing };
}

function planProcessors({ cpu }: MachineSpec, { sockets }: MachineObservation): DeviceStep | undefined {
  return cpu.sockets > sockets ? { action: 'set-sockets', sockets: cpu.sockets } : undefined;
}

function planMemory({ memory }: MachineSpec, { memoryBytes }: MachineObservation): DeviceStep | undefined {
  return memory.bytes > memoryBytes ? { action: 'set-memory', bytes: memory.bytes } : undefined;
}

function byName(
  devices: readonly AttachedDevice[],
  kind: AttachedDevice['kind'],
): ReadonlyMap<string, AttachedDevice> {
  return new Map(devices.filter((device) => device.kind === kind).map((device) => [device.name, device]));
}

/** One that is plugged in and not wanted, and has not been asked to leave. */
function findUnwanted(
  attached: ReadonlyMap<string, AttachedDevice>,
  wanted: readonly { readonly name: string }[],
): AttachedDevice | undefined {
  const names = new Set(wanted.map(({ name }) => name));
  return [...attached.values()].find(({ name, isLeaving }) => !isLeaving && !names.has(name));
}
