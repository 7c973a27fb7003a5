import { type AdmissionContext, type AdmissionRule, type AdmissionVerdict, allow, deny } from '@sheaf/api';
import type { DataVolume } from '@sheaf/api/virtualization/index';
import { type JsonValue, jsonEqual } from '@sheaf/base';
import { claimTemplatesAnnotation } from './rules/harvester-rules.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import { claimTemplatesOf } from './volume-objects.ts';

const machines = { group: 'kubevirt.io', resource: 'virtualmachines' };
const images = { group: 'harvesterhci.io', resource: 'virtualmachineimages' };
const classes = { group: 'storage.k8s.io', resource: 'storageclasses' };
const imageAnnotation = 'harvesterhci.io/imageId';

/**
 * The volumes of a machine are made by a controller that may do everything, so whoever writes the machine is asked here whether he
 * may read what is to be in them.
 */
export const volumeAccessRule: AdmissionRule = {
  name: 'virtual-machine-volumes',
  targets: [machines],
  operations: ['CREATE', 'UPDATE'],
  reads: [classes],
  async validate(object, old, context) {
    if (!object || object.metadata.deletionTimestamp !== undefined) return allow();
    const machine = object as VirtualMachine;
    if (old && jsonEqual(sourcesOf(machine), sourcesOf(old as VirtualMachine))) return allow();
    return (await unreadableImage(machine, context)) ?? (await unreadableSource(machine, context)) ?? allow();
  },
};

function sourcesOf({ metadata, spec }: VirtualMachine): JsonValue {
  const claims = metadata.annotations?.[claimTemplatesAnnotation] ?? null;
  return [claims, (spec.dataVolumeTemplates ?? null) as unknown as JsonValue];
}

async function unreadableImage(
  machine: VirtualMachine,
  context: AdmissionContext,
): Promise<AdmissionVerdict | undefined> {
  const dataVolumes = dataVolumesOf(machine).map(({ spec }) => spec.pvc ?? spec.storage);
  const used = [...claimTemplatesOf(machine).map(({ spec }) => spec), ...dataVolumes];
  for (const className of new Set(used.map((spec) => spec?.storageClassName ?? ''))) {
    const image = imageOf(className, context);
    if (image === undefined) continue;
    const [namespace = '', name = ''] = image.split('/');
    if (await context.may({ verb: 'get', ...images, namespace, name })) continue;
    return deny({
      reason: 'Forbidden',
      message: `a volume of the machine is made from the image ${image}, which you may not read`,
      wayOut: 'ask for the right to get that image, or use an image of your own',
    });
  }
  return undefined;
}

/** Classes that stand for an image say so. */
function imageOf(className: string, { objects }: AdmissionContext): string | undefined {
  const found = className === '' ? undefined : objects.find(classes, { name: className });
  return found?.metadata.annotations?.[imageAnnotation];
}

async function unreadableSource(
  machine: VirtualMachine,
  context: AdmissionContext,
): Promise<AdmissionVerdict | undefined> {
  for (const { namespace, name } of foreignSources(machine)) {
    const question = { group: 'cdi.kubevirt.io', resource: 'datavolumes', subresource: 'source', namespace };
    if (await context.may({ verb: 'create', ...question, name })) continue;
    return deny({
      reason: 'Forbidden',
      message: `a volume of the machine is a copy of ${namespace}/${name}, which you may not take`,
      wayOut: `ask for the right to create datavolumes/source in ${namespace}`,
    });
  }
  return undefined;
}

/** What the machine's volumes are copies of, in other namespaces. */
function foreignSources(machine: VirtualMachine): readonly { namespace: string; name: string }[] {
  const own = machine.metadata.namespace ?? '';
  return dataVolumesOf(machine).flatMap((volume) => foreignSourceOf(volume, own));
}

/** What a data volume is a copy of, where that is in another namespace. */
function foreignSourceOf(
  { spec }: DataVolume,
  own: string,
): { readonly namespace: string; readonly name: string }[] {
  const { namespace = '', name = '' } = spec.source?.pvc ?? spec.source?.snapshot ?? {};
  return namespace === '' || namespace === own ? [] : [{ namespace, name }];
}

function dataVolumesOf({ spec }: VirtualMachine): readonly DataVolume[] {
  return (spec.dataVolumeTemplates ?? []) as readonly DataVolume[];
}
