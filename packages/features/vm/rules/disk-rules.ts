import { dns1123LabelErrors } from '@sheaf/api';
import type { StatusCause } from '@sheaf/base';
import type { DiskSpec, InstanceSpec } from '../instance-spec.ts';
import { cause, duplicateNames, each, listed } from './cause.ts';

const buses = ['virtio', 'scsi', 'sata', 'usb'];
const caches = ['none', 'writethrough', 'writeback'];
const ioModes = ['native', 'threads'];
const serialPattern = /^[A-Za-z0-9_.+-]+$/;
const maxTextLength = 256;
const minBlockBytes = 512;
const maxBlockBytes = 2 * 1024 * 1024;

/** What is wrong with the disks of a machine, each by itself and among each other. */
export function diskCauses(spec: InstanceSpec, path: string): readonly StatusCause[] {
  const field = `${path}.domain.devices.disks`;
  const { disks } = spec.domain.devices;
  return [
    ...duplicateNames(disks, field),
    ...each(disks, field, (disk, place) => diskRules.flatMap((rule) => rule(disk, place))),
    ...missingVolumes(spec, field),
    ...bootOrderCauses(spec, path),
  ];
}

type DiskRule = (disk: DiskSpec, field: string) => readonly StatusCause[];

const diskRules: readonly DiskRule[] = [
  nameCauses,
  targetCauses,
  busCauses,
  serialCauses,
  cacheCauses,
  blockSizeCauses,
];

function nameCauses({ name }: DiskSpec, field: string): readonly StatusCause[] {
  return dns1123LabelErrors(name).map((text) =>
    cause(`${field}.name`, text, { wayOut: 'choose another name' }),
  );
}

function targetCauses({ disk, cdrom, lun }: DiskSpec, field: string): readonly StatusCause[] {
  if ([disk, cdrom, lun].filter(Boolean).length <= 1) return [];
  const text = `${field} can only have a single target type defined`;
  return [cause(field, text, { wayOut: 'keep one of disk, cdrom and lun' })];
}

function targetOf({ disk, cdrom, lun }: DiskSpec): { readonly kind: string; readonly bus: string } {
  if (cdrom) return { kind: 'cdrom', bus: cdrom.bus ?? '' };
  if (lun) return { kind: 'lun', bus: lun.bus ?? '' };
  return { kind: 'disk', bus: disk?.bus ?? '' };
}

function busCauses(disk: DiskSpec, field: string): readonly StatusCause[] {
  const { kind, bus } = targetOf(disk);
  const place = `${field}.${kind}.bus`;
  if (bus === '') return [];
  if (bus === 'ide') return [cause(place, 'IDE bus is not supported', { wayOut: 'use sata' })];
  if (!buses.includes(bus)) {
    const text = `${field} is set with an unrecognized bus ${bus}, must be one of: ${listed(buses)}`;
    return [cause(place, text, { wayOut: 'use one of them' })];
  }
  if (bus === 'virtio' && kind === 'cdrom')
    return [cause(place, 'Bus type virtio is invalid for CD-ROM device', { wayOut: 'use sata or scsi' })];
  if (bus === 'sata' && disk.disk?.readonly === true)
    return [cause(place, 'sata hard-disks do not support read-only.', { wayOut: 'use virtio or scsi' })];
  return [];
}

function serialCauses({ serial = '' }: DiskSpec, field: string): readonly StatusCause[] {
  if (serial === '') return [];
  const place = `${field}.serial`;
  if (serial.length > maxTextLength) {
    const text = `${field} must be less than or equal to ${maxTextLength} in length, if specified`;
    return [cause(place, text, { wayOut: 'shorten it' })];
  }
  if (serialPattern.test(serial)) return [];
  const text = `${field} must be made up of the following characters [A-Za-z0-9_.+-], if specified`;
  return [cause(place, text, { wayOut: 'leave out the others' })];
}

function cacheCauses({ cache = '', io = '' }: DiskSpec, field: string): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  if (cache !== '' && !caches.includes(cache))
    causes.push(
      cause(`${field}.cache`, `${field}.cache has invalid value ${cache}`, {
        wayOut: `use one of ${listed(caches)}`,
      }),
    );
  if (io !== '' && !ioModes.includes(io))
    causes.push(
      cause(
        `${field}.io`,
        `Disk IO mode for ${field} is not supported. Supported modes are: native, threads.`,
        { wayOut: 'use one of them', reason: 'FieldValueNotSupported' },
      ),
    );
  if (io === 'native' && cache !== '' && cache !== 'none')
    causes.push(
      cause(`${field}.io`, `${field}.io native needs cache none`, {
        wayOut: 'set cache to none, or io to threads',
      }),
    );
  return causes;
}

function blockSizeCauses({ blockSize }: DiskSpec, field: string): readonly StatusCause[] {
  const custom = blockSize?.custom;
  if (!custom) return [];
  const place = `${field}.blockSize`;
  if (blockSize.matchVolume && blockSize.matchVolume.enabled !== false) {
    const text = "Block size matching can't be enabled together with a custom value";
    return [cause(place, text, { wayOut: 'keep one of them' })];
  }
  if (custom.logical > custom.physical) {
    const text = `Logical size ${custom.logical} must be the same or less than the physical size of ${custom.physical}`;
    return [cause(`${place}.custom.logical`, text, { wayOut: 'make it smaller' })];
  }
  return (['logical', 'physical'] as const).flatMap((kind) =>
    sizeCauses(custom[kind], `${place}.custom.${kind}`),
  );
}

function sizeCauses(size: number, field: string): readonly StatusCause[] {
  const wayOut = 'use 512 or 4096';
  if (size < minBlockBytes)
    return [
      cause(field, `Provided size of ${size} is less than the supported minimum size of ${minBlockBytes}`, {
        wayOut,
      }),
    ];
  if (size > maxBlockBytes)
    return [
      cause(
        field,
        `Provided size of ${size} is greater than the supported maximum size of ${maxBlockBytes}`,
        { wayOut },
      ),
    ];
  return Number.isInteger(Math.log2(size))
    ? []
    : [cause(field, `Provided size of ${size} is not a power of 2`, { wayOut })];
}

/** A CD-ROM drive may be empty. */
function missingVolumes({ domain, volumes = [] }: InstanceSpec, field: string): readonly StatusCause[] {
  const names = new Set(volumes.map(({ name }) => name));
  return each(domain.devices.disks, field, ({ name, cdrom }, place) => {
    if (names.has(name) || cdrom) return [];
    return [
      cause(`${place}.name`, `${place}.Name '${name}' not found.`, { wayOut: 'add a volume of this name' }),
    ];
  });
}

/** Disks and network cards share one order. */
function bootOrderCauses({ domain }: InstanceSpec, path: string): readonly StatusCause[] {
  const { disks = [], interfaces = [] } = domain.devices;
  const seen = new Set<number>();
  const check = (
    { bootOrder }: { readonly bootOrder?: number | undefined },
    place: string,
  ): readonly StatusCause[] => {
    if (bootOrder === undefined) return [];
    const field = `${place}.bootOrder`;
    if (bootOrder < 1)
      return [cause(field, `${place} must have a boot order > 0, if supplied`, { wayOut: 'begin with 1' })];
    const isTaken = seen.has(bootOrder);
    seen.add(bootOrder);
    if (!isTaken) return [];
    const text = `Boot order for ${field} already set for a different device.`;
    return [cause(field, text, { wayOut: 'give each device its own number' })];
  };
  const devices = `${path}.domain.devices`;
  return [...each(disks, `${devices}.disks`, check), ...each(interfaces, `${devices}.interfaces`, check)];
}
