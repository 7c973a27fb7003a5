import type { JsonObject } from '@sheaf/base';
import type { DiskFile, MachineDisk, MachineNic, MachineSpec } from '@sheaf/ports';
import { diskId, diskNode, netdevId, nicId, tapName } from '../device-names.ts';
import { emulatedNetwork, podAddresses } from '../pod-network.ts';

export type MachineType = MachineSpec['machineType'];

/** Room for disks and network cards on virtio that are added while it runs. */
const sparePorts = 4;
/** Functions of one slot; ports are packed eight to a slot. */
const portsPerSlot = 8;
const firstPortSlot = 0x10;

const nicDrivers: Readonly<Record<MachineNic['model'], string>> = {
  virtio: 'virtio-net-pci',
  e1000: 'e1000',
  e1000e: 'e1000e',
  rtl8139: 'rtl8139',
  ne2k_pci: 'ne2k_pci',
  pcnet: 'pcnet',
};

/** A driver on the bus that this machine type has for it. */
export function virtio(device: string, machineType: MachineType): string {
  return `virtio-${device}-${machineType === 'microvm' ? 'device' : 'pci'}`;
}

/** True for disks that take a PCI slot of their own. */
export function isVirtioDisk(disk: MachineDisk): boolean {
  return disk.bus === 'virtio' && disk.device === 'disk';
}

/** How many hot-pluggable PCI ports a machine has; only q35 needs them. */
export function portCount(spec: MachineSpec): number {
  if (spec.machineType !== 'q35') return 0;
  return spec.disks.filter(isVirtioDisk).length + spec.nics.length + sparePorts;
}

export function portDevice(index: number): JsonObject {
  const slot = firstPortSlot + Math.floor(index / portsPerSlot);
  return {
    driver: 'pcie-root-port',
    id: `port${index}`,
    bus: 'pcie.0',
    chassis: index + 1,
    addr: `0x${slot.toString(16)}.0x${index % portsPerSlot}`,
    ...(index % portsPerSlot === 0 && { multifunction: true }),
  };
}

/** The block node of a disk's file. Its lock is the kernel's, taken by the process that writes. */
export function blockNode(disk: MachineDisk, file: DiskFile): JsonObject {
  const isReadOnly = disk.isReadOnly === true || disk.device === 'cdrom';
  const cache = { direct: disk.cache === 'none', 'no-flush': false };
  const discard = disk.discards === true ? 'unmap' : 'ignore';
  return {
    driver: file.format,
    'node-name': diskNode(disk.name, file.path),
    'read-only': isReadOnly,
    cache,
    discard,
    file: {
      driver: file.path.startsWith('/dev/') ? 'host_device' : 'file',
      filename: file.path,
      'read-only': isReadOnly,
      aio: disk.io ?? 'threads',
      locking: disk.isShareable === true ? 'off' : 'on',
      cache,
      discard,
    },
  };
}

/** Where a disk that has a fixed place is plugged in. */
export interface Place {
  readonly bus?: string;
}

/** The device of a disk, as the command line and hot-plug name it. */
export function diskDevice(disk: MachineDisk, machineType: MachineType, place: Place): JsonObject {
  return withoutAbsent({
    driver: diskDriver(disk, machineType),
    id: diskId(disk.name),
    bus: place.bus,
    drive: disk.file && diskNode(disk.name, disk.file.path),
    bootindex: disk.bootOrder,
    serial: disk.device === 'lun' ? undefined : disk.serial,
    logical_block_size: disk.logicalBlockBytes,
    physical_block_size: disk.physicalBlockBytes,
    'share-rw': disk.isShareable === true ? true : undefined,
    'write-cache': disk.cache === 'writethrough' ? 'off' : undefined,
    removable: disk.bus === 'usb' && disk.device === 'disk' ? true : undefined,
  });
}

function diskDriver({ device, bus }: MachineDisk, machineType: MachineType): string {
  if (device === 'cdrom') return bus === 'sata' ? 'ide-cd' : 'scsi-cd';
  if (device === 'lun') return 'scsi-block';
  switch (bus) {
    case 'virtio':
      return virtio('blk', machineType);
    case 'scsi':
      return 'scsi-hd';
    case 'sata':
      return 'ide-hd';
    case 'usb':
      return 'usb-storage';
  }
}

/** What stands behind a network card. `podSocket`: where its pod network is a process of its own, the path of its socket. */
export function netdev(
  nic: MachineNic,
  { machineId, podSocket }: { readonly machineId: string; readonly podSocket: string | undefined },
): JsonObject {
  const id = netdevId(nic.name);
  if (nic.link.kind === 'bridge')
    return {
      type: 'tap',
      id,
      ifname: tapName(machineId, nic.name),
      script: 'no',
      downscript: 'no',
    };
  if (podSocket !== undefined)
    return { type: 'stream', id, server: false, addr: { type: 'unix', path: podSocket } };
  return {
    ...emulatedNetwork(podAddresses(nic.link.cidr), nic.link.forwards ?? []),
    id,
    // Without it the guest reaches every service on the host's loopback.
    restrict: true,
  };
}

export function nicDevice(nic: MachineNic, machineType: MachineType, place: Place): JsonObject {
  return withoutAbsent({
    driver: nic.model === 'virtio' ? virtio('net', machineType) : nicDrivers[nic.model],
    id: nicId(nic.name),
    bus: place.bus,
    netdev: netdevId(nic.name),
    mac: nic.mac,
    bootindex: nic.bootOrder,
  });
}

function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
