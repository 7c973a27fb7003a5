import type { JsonObject } from '@sheaf/base';
import type { MachineSpec } from '@sheaf/ports';
import { fileNames, inputDescriptor, portId } from '../device-names.ts';
import {
  blockNode,
  diskDevice,
  isVirtioDisk,
  netdev,
  nicDevice,
  portCount,
  portDevice,
  virtio,
} from './devices.ts';
import {
  type EfiFiles,
  firmwareArguments,
  identityArguments,
  kernelArguments,
  machineArguments,
  tpmArguments,
} from './firmware.ts';
import { acceleratorArguments, cpuArguments, escapeCommas, memoryArguments } from './processor.ts';

/** What a command line says beside the spec. */
export interface LaunchFacts {
  readonly accelerator: 'kvm' | 'tcg';
  readonly efi?: EfiFiles;
  /** The sockets of pod networks that are processes of their own, by the names of their cards. */
  readonly podSockets?: ReadonlyMap<string, string>;
}

/**
 * The arguments that make a machine, with its processors standing. Sockets and logs are relative to its directory, where the
 * process runs. When the guest ends, the process stays and keeps the cause until it is told to quit.
 */
export function commandLine(spec: MachineSpec, facts: LaunchFacts): string[] {
  return [
    ...['-name', `guest=${escapeCommas(spec.title)},debug-threads=on`],
    ...machineArguments(spec, facts.efi),
    ...acceleratorArguments(spec, facts.accelerator),
    ...cpuArguments(spec.cpu, facts.accelerator),
    ...memoryArguments(spec.memory),
    ...identityArguments(spec.identity),
    ...['-nodefaults', '-no-user-config', '-S'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny'],
    ...['-action', 'shutdown=pause,panic=pause,reboot=reset'],
    ...['-rtc', spec.clock === undefined || spec.clock === 'utc' ? 'base=utc' : 'base=localtime'],
    ...controlSocket('control', fileNames.control),
    ...controlSocket('debug', fileNames.debugControl),
    ...firmwareArguments(spec, facts.efi),
    ...kernelArguments(spec.kernel),
    ...device(...ports(spec)),
    ...consoles(spec),
    ...controllers(spec),
    ...extras(spec),
    ...(spec.tpm ? tpmArguments() : []),
    ...disks(spec),
    ...nics(spec, facts.podSockets),
    ...(spec.memoryPath === undefined ? [] : ['-incoming', `fd:${inputDescriptor}`]),
  ];
}

/** The program's environment, beside the search path. */
export function environmentOf(spec: MachineSpec): Readonly<Record<string, string>> {
  return spec.clock === undefined || spec.clock === 'utc' ? {} : { TZ: spec.clock };
}

function controlSocket(id: string, path: string): string[] {
  return [
    '-chardev',
    `socket,id=${id},path=${path},server=on,wait=off`,
    '-mon',
    `chardev=${id},mode=control`,
  ];
}

function device(...devices: readonly JsonObject[]): string[] {
  return devices.flatMap((item) => ['-device', JSON.stringify(item)]);
}

function ports(spec: MachineSpec): JsonObject[] {
  return Array.from({ length: portCount(spec) }, (_, index) => portDevice(index));
}

function consoles(spec: MachineSpec): string[] {
  const { machineType } = spec;
  const serial = `socket,id=serial,path=${fileNames.serial},server=on,wait=off,logfile=${fileNames.serialLog},logappend=on`;
  const agent = `socket,id=agent,path=${fileNames.agent},server=on,wait=off`;
  return [
    ...(spec.hasGraphics
      ? [...device({ driver: 'VGA', id: 'video' }), '-vnc', `unix:${fileNames.screen},share=ignore`]
      : ['-display', 'none']),
    ...(spec.hasSerialConsole ? ['-chardev', serial, '-serial', 'chardev:serial'] : []),
    ...(spec.hasAgentChannel
      ? [
          ...['-chardev', agent],
          ...device(
            { driver: virtio('serial', machineType), id: 'channels' },
            // Without an id nothing tells when the guest opens it.
            {
              driver: 'virtserialport',
              bus: 'channels.0',
              id: 'agent',
              chardev: 'agent',
              name: 'org.qemu.guest_agent.0',
            },
          ),
        ]
      : []),
  ];
}

function controllers(spec: MachineSpec): string[] {
  const hasSata = spec.disks.some((disk) => disk.bus === 'sata');
  const hasUsb = spec.hasTablet === true || spec.disks.some((disk) => disk.bus === 'usb');
  return device(
    { driver: virtio('scsi', spec.machineType), id: 'scsi' },
    // q35 has one of its own.
    ...(hasSata && spec.machineType === 'pc' ? [{ driver: 'ahci', id: 'sata' }] : []),
    ...(hasUsb ? [{ driver: 'qemu-xhci', id: 'usb' }] : []),
    ...(spec.hasTablet === true ? [{ driver: 'usb-tablet', bus: 'usb.0' }] : []),
  );
}

function extras(spec: MachineSpec): string[] {
  const { machineType, watchdog } = spec;
  const random = [
    '-object',
    JSON.stringify({ 'qom-type': 'rng-random', id: 'random', filename: '/dev/urandom' }),
  ];
  return [
    ...(machineType === 'microvm' ? [] : device({ driver: 'pvpanic' })),
    ...(spec.hasRandomSource
      ? [...random, ...device({ driver: virtio('rng', machineType), rng: 'random' })]
      : []),
    ...(spec.hasBalloon ? device({ driver: virtio('balloon', machineType), id: 'balloon' }) : []),
    // To power off would end the process without a trace of the cause; so it pauses, and that is read as the end.
    ...(watchdog
      ? [
          ...device({ driver: watchdog.model, id: 'watchdog' }),
          '-action',
          `watchdog=${watchdog.action === 'poweroff' ? 'pause' : watchdog.action}`,
        ]
      : []),
  ];
}

function disks(spec: MachineSpec): string[] {
  let virtioDisks = 0;
  let sataDisks = 0;
  return spec.disks.flatMap((disk) => {
    let bus: string | undefined;
    if (isVirtioDisk(disk)) bus = portBus(spec, virtioDisks++);
    else if (disk.bus === 'sata') bus = `${spec.machineType === 'pc' ? 'sata' : 'ide'}.${sataDisks++}`;
    else bus = disk.bus === 'usb' && disk.device === 'disk' ? 'usb.0' : 'scsi.0';
    const node = disk.file ? ['-blockdev', JSON.stringify(blockNode(disk, disk.file))] : [];
    return [...node, ...device(diskDevice(disk, spec.machineType, bus === undefined ? {} : { bus }))];
  });
}

function nics(spec: MachineSpec, podSockets: LaunchFacts['podSockets']): string[] {
  const firstPort = spec.disks.filter(isVirtioDisk).length;
  return spec.nics.flatMap((nic, index) => {
    const bus = portBus(spec, firstPort + index);
    return [
      ...[
        '-netdev',
        JSON.stringify(netdev(nic, { machineId: spec.id, podSocket: podSockets?.get(nic.name) })),
      ],
      ...device(nicDevice(nic, spec.machineType, bus === undefined ? {} : { bus })),
    ];
  });
}

function portBus(spec: MachineSpec, index: number): string | undefined {
  return spec.machineType === 'q35' ? portId(index) : undefined;
}
