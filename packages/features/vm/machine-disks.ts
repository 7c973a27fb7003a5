import type { DiskFile, MachineDisk } from '@sheaf/ports';
import { definedFields } from './defined-fields.ts';
import type { DiskSpec, DiskTarget, InstanceSpec, VolumeSpec } from './instance-spec.ts';
import type { SpecProblem } from './machine-spec.ts';

/** The file behind each volume, by the volume's name. */
export type VolumeFiles = ReadonlyMap<string, DiskFile>;

export interface DiskTranslation {
  readonly disks: readonly MachineDisk[];
  readonly problems: readonly SpecProblem[];
  readonly warnings: readonly string[];
}

/** Two processes that write to one such file destroy it: each has a picture of its own of what is where in it. */
export const oneWriter = {
  reason: 'a volume in a file has one writer',
  wayOut: 'remove shareable, and let the guests share by a network file system; or let all of them only read',
};

/** The disks of a machine: those of its volumes, and drives without a medium. */
export function translateDisks(spec: InstanceSpec, files: VolumeFiles): DiskTranslation {
  const volumes = spec.volumes ?? [];
  const disks = spec.domain.devices.disks ?? [];
  const listed = new Set(disks.map(({ name }) => name));
  // A volume without a disk of its name gets one, as KubeVirt does.
  const all = [...disks, ...volumes.filter(({ name }) => !listed.has(name)).map(({ name }) => ({ name }))];
  const byName = new Map(volumes.map((volume) => [volume.name, volume]));
  const results = all.map((disk, index) =>
    translateDisk(disk, { index, volume: byName.get(disk.name), files }),
  );
  return {
    disks: results.flatMap(({ disk }) => (disk ? [disk] : [])),
    problems: results.flatMap(({ problem }) => (problem ? [problem] : [])),
    warnings: results.flatMap(({ warnings = [] }) => warnings),
  };
}

interface DiskPlace {
  readonly index: number;
  readonly volume: VolumeSpec | undefined;
  readonly files: VolumeFiles;
}

interface OneDisk {
  readonly disk?: MachineDisk;
  readonly problem?: SpecProblem;
  readonly warnings?: readonly string[];
}

function translateDisk(disk: DiskSpec, { index, volume, files }: DiskPlace): OneDisk {
  const field = `spec.domain.devices.disks[${index}]`;
  const { device, target } = targetOf(disk);
  const file = files.get(disk.name);
  const isReadOnly = isReadOnlyDisk(disk, volume);
  const problem = fileProblem(disk, file, isReadOnly);
  if (problem) return { problem: { ...problem, field: `${field}${problem.field}` } };
  const bus = busOf(target, device);
  return {
    disk: {
      name: disk.name,
      device,
      bus,
      ...(file ? { file } : {}),
      isReadOnly,
      ...optionsOf(disk),
      discards: device !== 'cdrom',
    },
    warnings: warningsOf(disk, field),
  };
}

function isReadOnlyDisk(disk: DiskSpec, volume: VolumeSpec | undefined): boolean {
  const { device, target } = targetOf(disk);
  return device === 'cdrom' || target.readonly === true || volume?.persistentVolumeClaim?.readOnly === true;
}

/** `field` is below that of the disk. */
function fileProblem(
  { name, cdrom, shareable }: DiskSpec,
  file: DiskFile | undefined,
  isReadOnly: boolean,
): SpecProblem | undefined {
  if (!file && !cdrom)
    return {
      field: '',
      reason: `no volume gives disk ${name} a file`,
      wayOut: 'add a volume of this name, or make the disk a CD-ROM drive',
    };
  if (shareable !== true || isReadOnly || file?.format !== 'qcow2') return undefined;
  return { field: '.shareable', ...oneWriter };
}

function targetOf(disk: DiskSpec): { readonly device: MachineDisk['device']; readonly target: DiskTarget } {
  if (disk.cdrom) return { device: 'cdrom', target: disk.cdrom };
  if (disk.lun) return { device: 'lun', target: disk.lun };
  return { device: 'disk', target: disk.disk ?? {} };
}

const buses: readonly MachineDisk['bus'][] = ['virtio', 'scsi', 'sata', 'usb'];

/** Without one: SATA, which every guest knows, as KubeVirt does. Admission lets no unknown bus through. */
function busOf({ bus }: DiskTarget, device: MachineDisk['device']): MachineDisk['bus'] {
  return buses.find((known) => known === bus) ?? (device === 'lun' ? 'scsi' : 'sata');
}

function optionsOf(disk: DiskSpec): Partial<MachineDisk> {
  const custom = disk.blockSize?.custom;
  return definedFields<Partial<MachineDisk>>({
    bootOrder: disk.bootOrder,
    cache: caches.find((known) => known === disk.cache),
    io: ioModes.find((known) => known === disk.io),
    serial: disk.serial === '' ? undefined : disk.serial,
    isShareable: disk.shareable === true ? true : undefined,
    logicalBlockBytes: custom?.logical,
    physicalBlockBytes: custom?.physical,
  });
}

const caches: readonly NonNullable<MachineDisk['cache']>[] = ['none', 'writethrough', 'writeback'];
const ioModes: readonly NonNullable<MachineDisk['io']>[] = ['native', 'threads'];

function warningsOf({ blockSize }: DiskSpec, field: string): readonly string[] {
  return blockSize?.matchVolume && !blockSize.custom && blockSize.matchVolume.enabled !== false
    ? [`${field}.blockSize.matchVolume has no effect`]
    : [];
}
