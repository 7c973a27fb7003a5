import {
  type AdmissionContext,
  type AdmissionMutation,
  type AdmissionRule,
  type AdmissionVerdict,
  allow,
  deny,
  labelValueErrors,
  replaceWith,
} from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  StorageClass,
  VirtualMachineBackup,
  VirtualMachineImage,
  VirtualMachineTemplateVersion,
} from '@sheaf/api/virtualization/index';
import { checkChange } from './admission-change.ts';
import { checkContent } from './admission-content.ts';
import {
  backups,
  claims,
  classes,
  images,
  invalid,
  isDefaultClass,
  templateVersions,
} from './admission-words.ts';
import { classAnnotation, displayNameLabel, imageIdOf } from './image-names.ts';
import { namesOf, usersOf } from './image-users.ts';
import { parametersFrom } from './storage-class.ts';

/** What images may say, and when they may go. */
export const imageRule: AdmissionRule = {
  name: 'virtual-machine-image',
  targets: [images],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  reads: [images, classes, claims, templateVersions, backups],
  mutate: (object, old, context) => complete(object as VirtualMachineImage | undefined, old, context),
  validate: (object, old, context) =>
    verdict(object as VirtualMachineImage | undefined, old as VirtualMachineImage | undefined, context),
};

/** Before the schema has been looked at, an object may hold anything; what cannot be read is refused by the schema. */
function isReadable({ spec }: VirtualMachineImage): boolean {
  return (
    typeof spec === 'object' && typeof (spec as { displayName?: unknown } | null)?.displayName === 'string'
  );
}

function complete(
  image: VirtualMachineImage | undefined,
  old: unknown,
  context: AdmissionContext,
): AdmissionMutation {
  if (!image || image.metadata.deletionTimestamp !== undefined || !isReadable(image)) return allow();
  const labelled = withLabel(image);
  const completed = old === undefined ? withParameters(labelled, context) : labelled;
  return completed === image ? allow() : replaceWith(completed);
}

/** Clients look images up by it. */
function withLabel(image: VirtualMachineImage): VirtualMachineImage {
  const { metadata, spec } = image;
  const { displayName } = spec;
  if (metadata.labels?.[displayNameLabel] === displayName || labelValueErrors(displayName).length > 0)
    return image;
  return {
    ...image,
    metadata: { ...metadata, labels: { ...metadata.labels, [displayNameLabel]: displayName } },
  };
}

/** A new image takes the parameters of its class over, from the default class if it names none. */
function withParameters(image: VirtualMachineImage, { objects }: AdmissionContext): VirtualMachineImage {
  const named = image.metadata.annotations?.[classAnnotation];
  const all = objects.list(classes) as readonly StorageClass[];
  const chosen = all.find((each) => (named ? each.metadata.name === named : isDefaultClass(each)));
  const storageClassParameters = parametersFrom(chosen?.parameters ?? image.spec.storageClassParameters);
  const spec = { ...image.spec, storageClassParameters };
  if (named || !chosen?.metadata.name) return { ...image, spec };
  const annotations = { ...image.metadata.annotations, [classAnnotation]: chosen.metadata.name };
  return { ...image, spec, metadata: { ...image.metadata, annotations } };
}

async function verdict(
  image: VirtualMachineImage | undefined,
  old: VirtualMachineImage | undefined,
  context: AdmissionContext,
): Promise<AdmissionVerdict> {
  if (!image) return old ? checkDeletion(old, context) : allow();
  if (image.metadata.deletionTimestamp !== undefined) return allow();
  if (old) return checkChange(image, old);
  return checkName(image, context) ?? (await checkContent(image, context)) ?? allow();
}

function checkName(
  image: VirtualMachineImage,
  { objects, namespace }: AdmissionContext,
): AdmissionVerdict | undefined {
  const { displayName } = image.spec;
  const field = 'spec.displayName';
  if (displayName === '')
    return invalid(field, 'displayName is required', 'Give the image a name that people see.');
  const [problem] = labelValueErrors(displayName);
  if (problem !== undefined)
    return invalid(
      field,
      `displayName is not a valid Kubernetes label value: ${problem}`,
      'Use at most 63 letters, digits, dots, dashes and underscores, e.g. debian-13.qcow2.',
    );
  const others = objects.list(images, namespace) as readonly VirtualMachineImage[];
  const other = others.find(({ spec }) => spec.displayName === displayName);
  if (!other) return undefined;
  return deny({
    reason: 'Conflict',
    message: `A resource with the same name exists: the image ${imageIdOf(other)} has the displayName ${displayName}`,
    wayOut: 'Choose another displayName, or delete that image first.',
  });
}

function checkDeletion(image: VirtualMachineImage, { objects }: AdmissionContext): AdmissionVerdict {
  const users = usersOf(image, {
    claims: objects.list(claims) as readonly PersistentVolumeClaim[],
    templateVersions: objects.list(templateVersions) as readonly VirtualMachineTemplateVersion[],
    backups: objects.list(backups) as readonly VirtualMachineBackup[],
  });
  if (users.length === 0) return allow();
  const { namespace, name } = image.metadata;
  return deny({
    reason: 'Invalid',
    message: `Cannot delete image ${namespace}/${name} (${image.spec.displayName}): being used by ${namesOf(users)}`,
    wayOut: 'Delete these first.',
  });
}
