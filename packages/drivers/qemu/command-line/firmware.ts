import type { KernelBoot, MachineSpec, SystemIdentity } from '@sheaf/ports';
import { fileNames } from '../device-names.ts';
import { escapeCommas } from './processor.ts';

/** The files of an EFI firmware for one machine. */
export interface EfiFiles {
  readonly codePath: string;
  /** The machine's own copy. */
  readonly variablesPath: string;
}

export function machineArguments(spec: MachineSpec, efi?: EfiFiles): string[] {
  const options = [spec.machineType, ...typeOptions(spec)];
  if (efi) options.push('pflash0=efi-code', 'pflash1=efi-variables');
  if (spec.machineType !== 'microvm') options.push('vmport=off');
  return ['-machine', options.join(',')];
}

function typeOptions(spec: MachineSpec): string[] {
  // Its tables make guests hang under emulation.
  if (spec.machineType === 'microvm') return ['acpi=off'];
  const isSecure = spec.firmware.kind === 'efi' && spec.firmware.isSecureBoot;
  return isSecure ? ['smm=on'] : [];
}

export function firmwareArguments(spec: MachineSpec, efi?: EfiFiles): string[] {
  const { firmware } = spec;
  if (firmware.kind === 'file') return ['-bios', firmware.path];
  if (firmware.kind === 'bios' || !efi) return [];
  const node = (name: string, path: string, isReadOnly: boolean): string[] => [
    '-blockdev',
    JSON.stringify({
      driver: 'raw',
      'node-name': name,
      'read-only': isReadOnly,
      file: { driver: 'file', filename: path, 'read-only': isReadOnly },
    }),
  ];
  const secure = firmware.isSecureBoot ? ['-global', 'driver=cfi.pflash01,property=secure,value=on'] : [];
  return [
    ...node('efi-code', efi.codePath, true),
    ...node('efi-variables', efi.variablesPath, false),
    ...secure,
  ];
}

export function kernelArguments(kernel: KernelBoot | undefined): string[] {
  if (!kernel) return [];
  return [
    '-kernel',
    kernel.kernelPath,
    ...(kernel.initrdPath === undefined ? [] : ['-initrd', kernel.initrdPath]),
    ...(kernel.arguments === undefined ? [] : ['-append', kernel.arguments]),
  ];
}

export function identityArguments(identity: SystemIdentity): string[] {
  const system = fields({
    uuid: identity.uuid,
    serial: identity.serial,
    manufacturer: identity.manufacturer,
    product: identity.product,
    version: identity.version,
    sku: identity.sku,
    family: identity.family,
  });
  const chassis = fields({ asset: identity.assetTag });
  return [
    '-uuid',
    identity.uuid,
    '-smbios',
    ['type=1', ...system].join(','),
    ...(chassis.length === 0 ? [] : ['-smbios', ['type=3', ...chassis].join(',')]),
  ];
}

export function tpmArguments(): string[] {
  return [
    '-chardev',
    `socket,id=tpm-control,path=${fileNames.tpm}`,
    '-tpmdev',
    'emulator,id=tpm,chardev=tpm-control',
    '-device',
    JSON.stringify({ driver: 'tpm-crb', tpmdev: 'tpm' }),
  ];
}

function fields(values: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escapeCommas(value)}`],
  );
}
