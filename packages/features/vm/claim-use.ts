import { type AdmissionObjects, type AdmissionRule, type AdmissionVerdict, allow, refuse } from '@sheaf/api';
import { type PersistentVolumeClaim, storageDriver } from '@sheaf/api/virtualization/index';
import { compareQuantities, parseQuantity, QuantitySyntaxError, type StatusCause } from '@sheaf/base';
import { refusalOf } from './admission.ts';
import { claimNameOf, type DiskSpec, type VolumeSpec } from './instance-spec.ts';
import { oneWriter } from './machine-disks.ts';
import { cause, each } from './rules/cause.ts';
import { claimTemplatesAnnotation } from './rules/harvester-rules.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import { claimTemplatesOf } from './volume-objects.ts';

const machines = { group: 'kubevirt.io', resource: 'virtualmachines' };
const claims = { group: '', resource: 'persistentvolumeclaims' };
const classes = { group: 'storage.k8s.io', resource: 'storageclasses' };
const goldenAnnotation = 'harvesterhci.io/goldenImage';

/** What machines may not do with claims. What a machine does already is no reason to refuse another change of it. */
export const claimUseRule: AdmissionRule = {
  name: 'virtual-machine-claims',
  targets: [machines],
  operations: ['CREATE', 'UPDATE'],
  reads: [claims, classes],
  validate(object, old, { objects }): AdmissionVerdict {
    if (!object || object.metadata.deletionTimestamp !== undefined) return allow();
    const machine = object as VirtualMachine;
    const before = old as VirtualMachine | undefined;
    const known = new Set((before ? useCauses(before, objects) : []).map(({ message }) => message));
    const causes = [
      ...useCauses(machine, objects).filter(({ message }) => !known.has(message)),
      ...(before ? templateCauses(machine, before) : []),
    ];
    return causes.length === 0 ? allow() : refuse(refusalOf('validator.harvesterhci.io', causes));
  },
};

function useCauses(machine: VirtualMachine, objects: AdmissionObjects): readonly StatusCause[] {
  const { volumes, domain } = machine.spec.template.spec;
  const disks = new Map((domain.devices.disks ?? []).map((disk) => [disk.name, disk]));
  return each(volumes, 'spec.template.spec.volumes', (volume, field) => {
    const claim = findClaim(machine, volume, objects);
    if (!claim) return [];
    return [
      ...goldenCauses(claim, field),
      ...sharedCauses(claim, { disk: disks.get(volume.name), field, objects }),
    ];
  });
}

/** As it is, or as the machine brings it along. */
function findClaim(
  machine: VirtualMachine,
  volume: VolumeSpec,
  objects: AdmissionObjects,
): PersistentVolumeClaim | undefined {
  const name = claimNameOf(volume);
  if (name === undefined) return undefined;
  const { namespace = '' } = machine.metadata;
  const found = objects.find(claims, { namespace, name }) as PersistentVolumeClaim | undefined;
  return found ?? claimTemplatesOf(machine).find(({ metadata }) => metadata.name === name);
}

function goldenCauses({ metadata }: PersistentVolumeClaim, field: string): readonly StatusCause[] {
  if (metadata.annotations?.[goldenAnnotation] !== 'true') return [];
  const text = `PVC ${metadata.namespace ?? ''}/${metadata.name ?? ''} is a golden image, it can't be used as a volume in a VM`;
  return [cause(field, text, { wayOut: 'use a claim of the storage class of the image' })];
}

interface SharedUse {
  readonly disk: DiskSpec | undefined;
  readonly field: string;
  readonly objects: AdmissionObjects;
}

function sharedCauses(
  { metadata, spec }: PersistentVolumeClaim,
  { disk, field, objects }: SharedUse,
): readonly StatusCause[] {
  if (disk?.shareable !== true || isReadOnly(disk)) return [];
  const storageClass = objects.find(classes, { name: spec.storageClassName ?? '' });
  if (storageClass?.['provisioner'] !== storageDriver) return [];
  const text = `the volume ${metadata.name ?? ''} cannot be shared: ${oneWriter.reason}`;
  return [cause(field, text, { wayOut: oneWriter.wayOut })];
}

function isReadOnly({ cdrom, disk, lun }: DiskSpec): boolean {
  return cdrom !== undefined || (disk ?? lun)?.readonly === true;
}

/** Claims are made once from their templates: afterwards they can only grow. */
function templateCauses(machine: VirtualMachine, old: VirtualMachine): readonly StatusCause[] {
  const before = new Map(claimTemplatesOf(old).map((template) => [template.metadata.name, template]));
  const field = `metadata.annotations[${claimTemplatesAnnotation}]`;
  return claimTemplatesOf(machine).flatMap((template) => {
    const { name = '' } = template.metadata;
    const known = before.get(name);
    if (!known) return [];
    const wasClass = known.spec.storageClassName ?? '';
    if ((template.spec.storageClassName ?? '') !== wasClass)
      return [
        cause(field, `the storage class of PVC ${name} cannot be changed`, {
          wayOut: `leave it at ${JSON.stringify(wasClass)}, or bring another volume along`,
        }),
      ];
    if (!isLess(sizeOf(template), sizeOf(known))) return [];
    const text = `PVC ${name} cannot become smaller than ${sizeOf(known) ?? ''}`;
    return [cause(field, text, { wayOut: 'leave its size, or bring another volume along' })];
  });
}

function sizeOf({ spec }: PersistentVolumeClaim): string | undefined {
  return spec.resources?.requests?.['storage'];
}

/** What is no quantity is refused where the claim is made. */
function isLess(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  try {
    return compareQuantities(parseQuantity(String(a)), parseQuantity(String(b))) < 0;
  } catch (error) {
    if (!(error instanceof QuantitySyntaxError)) throw error;
    return false;
  }
}
