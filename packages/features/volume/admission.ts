import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionVerdict,
  allow,
  type Condition,
  deny,
  findCondition,
} from '@sheaf/api';
import {
  type PersistentVolumeClaim,
  type StorageClass,
  storageDriver,
  type VirtualMachineImage,
  type VirtualMachineInstance,
} from '@sheaf/api/virtualization/index';
import { isJsonObject } from '@sheaf/base';
import { bytesOf } from './claim-content.ts';
import { usersOf } from './claim-users.ts';
import { defaultClassAnnotation, isDefaultClass, reservedAnnotation } from './storage-defaults.ts';
import { classNameOf, requestedText } from './volume-object.ts';

const claims = { group: '', resource: 'persistentvolumeclaims' };
const classes = { group: 'storage.k8s.io', resource: 'storageclasses' };
const images = { group: 'harvesterhci.io', resource: 'virtualmachineimages' };
const settings = { group: 'harvesterhci.io', resource: 'settings' };
const machines = { group: 'kubevirt.io', resource: 'virtualmachines' };
const instances = { group: 'kubevirt.io', resource: 'virtualmachineinstances' };

const goldenAnnotation = 'harvesterhci.io/goldenImage';
const imageAnnotation = 'harvesterhci.io/imageId';
const ownersAnnotation = 'harvesterhci.io/owned-by';

/** What Harvester lets be done with claims. */
export const claimRule: AdmissionRule = {
  name: 'persistent-volume-claim',
  targets: [claims],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  reads: [classes, images, settings, machines, instances],
  validate(object, old, context) {
    if (context.operation === 'CREATE') return checkNew(object as PersistentVolumeClaim, context);
    if (context.operation === 'DELETE') return checkDeletion(old as PersistentVolumeClaim, context);
    return checkChange(object as PersistentVolumeClaim, old as PersistentVolumeClaim, context);
  },
};

/** What Harvester lets be done with storage classes. */
export const classRule: AdmissionRule = {
  name: 'storage-class',
  targets: [classes],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  reads: [classes, images],
  validate(object, old, context) {
    if (!object) return checkClassDeletion(old as StorageClass, context);
    return (
      checkDefault(object as StorageClass, old as StorageClass | undefined, context) ??
      checkClass(object as StorageClass, context)
    );
  },
};

async function checkNew(claim: PersistentVolumeClaim, context: AdmissionContext): Promise<AdmissionVerdict> {
  const className = classNameOf(claim) ?? '';
  const reserved = reservedReason(claim, className, context);
  if (reserved) return invalid(...reserved);
  const image = imageOfClass(className, context);
  if (!image) return allow();
  const { namespace = '', name = '' } = image.metadata;
  const mayRead = await context.may({ verb: 'get', ...images, namespace, name });
  if (!mayRead)
    return invalid(
      `the storage class ${className} stands for the image ${namespace}/${name}, which you may not read`,
      'ask for the right to get that image, or use an image of your own',
    );
  const least = image.status?.virtualSize ?? 0;
  if (bytesOf(requestedText(claim)) >= least) return allow();
  return invalid(
    `the image ${namespace}/${name} has ${least} bytes, and the claim asks for ${requestedText(claim)}`,
    `ask for at least ${least} bytes`,
  );
}

function reservedReason(
  claim: PersistentVolumeClaim,
  className: string,
  context: AdmissionContext,
): readonly [string, string] | undefined {
  const { labels = {} } = claim.metadata;
  if (className === 'vmstate-persistence' && labels['persistent-state-for'] === undefined)
    return [
      'the storage class vmstate-persistence is kept for the state of virtual machines',
      'use another storage class',
    ];
  if (className !== 'longhorn-static' || isForUpgrade(claim, context)) return undefined;
  return ['the storage class longhorn-static is kept for images of upgrades', 'use another storage class'];
}

function isForUpgrade({ metadata }: PersistentVolumeClaim, { objects }: AdmissionContext): boolean {
  const [namespace = '', name = ''] = (metadata.annotations?.[imageAnnotation] ?? '').split('/');
  const image = objects.find(images, { namespace, name });
  return image?.metadata.annotations?.['harvesterhci.io/os-upgrade-image'] === 'True';
}

function imageOfClass(className: string, { objects }: AdmissionContext): VirtualMachineImage | undefined {
  if (className === '') return undefined;
  const backing = (objects.find(classes, { name: className }) as StorageClass | undefined)?.parameters?.[
    'backingImage'
  ];
  return (objects.list(images) as readonly VirtualMachineImage[]).find(
    ({ metadata, status }) => status?.storageClassName === className || backing === `vmi-${metadata.uid}`,
  );
}

function checkChange(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  context: AdmissionContext,
): AdmissionVerdict {
  if (claim.metadata.annotations?.[goldenAnnotation] !== old.metadata.annotations?.[goldenAnnotation])
    return invalid(
      `the annotation ${goldenAnnotation} of a claim cannot be changed`,
      'leave it as it is; it goes with the image',
    );
  if (bytesOf(requestedText(claim)) <= bytesOf(requestedText(old))) return allow();
  const [user] = liveUsers(claim, context);
  const provisioner = provisionerOf(claim, context);
  if (!user || mayGrowAttached(provisioner, context)) return allow();
  return invalid(
    `the claim is in use by ${user.namespace}/${user.name}, and the setting csi-online-expand-validation does not let volumes of ${provisioner} grow while they are in use`,
    'stop the machine first, or allow the provisioner in that setting',
  );
}

function provisionerOf(claim: PersistentVolumeClaim, { objects }: AdmissionContext): string {
  const found = objects.find(classes, { name: classNameOf(claim) ?? '' }) as StorageClass | undefined;
  return found?.provisioner ?? '';
}

/** Without a setting, what this driver can do is allowed. */
function mayGrowAttached(provisioner: string, { objects }: AdmissionContext): boolean {
  const setting = objects.find(settings, { name: 'csi-online-expand-validation' });
  const { value, default: usual } = (setting ?? {}) as { readonly value?: string; readonly default?: string };
  const text = value || usual || '';
  if (text === '') return provisioner === storageDriver;
  try {
    const allowed: unknown = JSON.parse(text);
    return isJsonObject(allowed) && allowed[provisioner] === true;
  } catch {
    return false;
  }
}

function checkDeletion(claim: PersistentVolumeClaim, context: AdmissionContext): AdmissionVerdict {
  const { namespace = '', name = '' } = claim.metadata;
  const [user] = liveUsers(claim, context);
  if (user)
    return deny({
      reason: 'Conflict',
      message: `the volume ${namespace}/${name} is in use by the virtual machine ${user.namespace}/${user.name}`,
      wayOut: 'stop the machine or take the volume off it first',
    });
  const owner = liveOwner(claim, context);
  if (owner !== undefined)
    return invalid(
      `the volume ${namespace}/${name} belongs to the virtual machine ${owner}`,
      'take the volume off the machine, or delete the machine with it',
    );
  const image = unfinishedExport(claim, context);
  if (image !== undefined)
    return invalid(
      `the volume ${namespace}/${name} is being exported to the image ${image}`,
      'wait until the image is ready, or delete it',
    );
  const golden = goldenImageOf(claim, context);
  if (golden === undefined) return allow();
  return invalid(
    `the volume ${namespace}/${name} is what the image ${golden} is made of`,
    'delete the image instead',
  );
}

function liveUsers(claim: PersistentVolumeClaim, { objects }: AdmissionContext): ReturnType<typeof usersOf> {
  const { namespace = '', name = '' } = claim.metadata;
  return usersOf(name, objects.list(instances, namespace) as readonly VirtualMachineInstance[]);
}

/** A virtual machine of the annotation that is there and not being deleted. */
function liveOwner({ metadata }: PersistentVolumeClaim, { objects }: AdmissionContext): string | undefined {
  return ownersOf(metadata.annotations?.[ownersAnnotation]).find((owner) => {
    const [namespace = '', name = ''] = owner.split('/');
    const machine = objects.find(machines, { namespace, name });
    return machine !== undefined && machine.metadata.deletionTimestamp === undefined;
  });
}

function ownersOf(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  try {
    const owners: unknown = JSON.parse(text);
    return (Array.isArray(owners) ? owners : [])
      .filter(isJsonObject)
      .filter(({ schema }) => schema === 'kubevirt.io.virtualmachine')
      .flatMap(({ refs }) => (Array.isArray(refs) ? refs : []))
      .filter((each) => typeof each === 'string');
  } catch {
    // What cannot be read names nobody.
    return [];
  }
}

function unfinishedExport(
  { metadata }: PersistentVolumeClaim,
  { objects }: AdmissionContext,
): string | undefined {
  const found = (objects.list(images) as readonly VirtualMachineImage[]).find(
    ({ spec, status, metadata: own }) =>
      spec.sourceType === 'export-from-volume' &&
      spec.pvcName === metadata.name &&
      spec.pvcNamespace === metadata.namespace &&
      own.deletionTimestamp === undefined &&
      !isSettled(status?.conditions as readonly Condition[] | undefined),
  );
  return found && `${found.metadata.namespace}/${found.metadata.name}`;
}

function isSettled(conditions: readonly Condition[] | undefined): boolean {
  const imported = findCondition(conditions, 'Imported')?.status;
  return imported === 'True' || imported === 'False';
}

function goldenImageOf(
  { metadata }: PersistentVolumeClaim,
  { objects }: AdmissionContext,
): string | undefined {
  if (metadata.annotations?.[goldenAnnotation] !== 'true') return undefined;
  const id = metadata.annotations[imageAnnotation] ?? `${metadata.namespace}/${metadata.name}`;
  const [namespace = '', name = ''] = id.split('/');
  const image = objects.find(images, { namespace, name });
  return image && image.metadata.deletionTimestamp === undefined ? id : undefined;
}

function checkDefault(
  storageClass: StorageClass,
  old: StorageClass | undefined,
  { objects, name }: AdmissionContext,
): AdmissionVerdict | undefined {
  if (!isDefaultClass(storageClass) || (old && isDefaultClass(old))) return undefined;
  const other = (objects.list(classes) as readonly StorageClass[]).find(
    (each) => each.metadata.name !== name && isDefaultClass(each),
  );
  if (!other) return undefined;
  return invalid(
    `the storage class ${other.metadata.name} is the default already`,
    `take the annotation ${defaultClassAnnotation} off it first`,
  );
}

function checkClass(
  { parameters = {}, provisioner }: StorageClass,
  { operation }: AdmissionContext,
): AdmissionVerdict {
  if (provisioner !== storageDriver || operation !== 'CREATE') return allow();
  if (parameters['dataLocality'] === 'strict-local')
    return invalid('dataLocality strict-local is not supported', 'use disabled or best-effort');
  if (parameters['encrypted'] === 'true')
    return invalid(
      'volumes in a directory cannot be encrypted one by one',
      'leave parameters.encrypted out, and encrypt the file system of the host',
    );
  return allow();
}

function checkClassDeletion({ metadata }: StorageClass, { objects }: AdmissionContext): AdmissionVerdict {
  const { name = '', annotations } = metadata;
  if (annotations?.[reservedAnnotation] === 'true')
    return invalid(`the storage class ${name} is reserved`, 'leave it; nothing has to use it');
  const user = (objects.list(images) as readonly VirtualMachineImage[]).find(
    ({ status, spec, metadata: own }) =>
      own.deletionTimestamp === undefined &&
      (status?.storageClassName === name || spec.targetStorageClassName === name),
  );
  if (!user) return allow();
  return invalid(
    `the storage class ${name} is in use by the image ${user.metadata.namespace}/${user.metadata.name}`,
    'delete that image first',
  );
}

function invalid(message: string, wayOut: string): AdmissionVerdict {
  return deny({ reason: 'Invalid', message, wayOut });
}
