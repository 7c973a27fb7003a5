import type { AdmissionContext, AdmissionVerdict } from '@sheaf/api';
import { type StorageClass, storageDriver, type VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { claims, classes, images, invalid } from './admission-words.ts';
import { isImported } from './image-conditions.ts';
import {
  classAnnotation,
  cloneAnnotation,
  imageIdOf,
  mirrorsAnnotation,
  mirrorsOf,
  placeOf,
} from './image-names.ts';

/** Whether a new image can be made from what it names, and by whom it is made. */
export async function checkContent(
  image: VirtualMachineImage,
  context: AdmissionContext,
): Promise<AdmissionVerdict | undefined> {
  return (
    checkClass(image, context) ??
    checkAvailable(image) ??
    checkUrls(image) ??
    checksumProblem(image) ??
    retryProblem(image) ??
    (await checkOriginal(image, context)) ??
    (await checkClaim(image, context))
  );
}

const classField = `metadata.annotations[${classAnnotation}]`;

function checkClass(
  { metadata, spec }: VirtualMachineImage,
  { objects }: AdmissionContext,
): AdmissionVerdict | undefined {
  const named = metadata.annotations?.[classAnnotation];
  const { targetStorageClassName: target } = spec;
  if (named && target && named !== target)
    return invalid(
      'spec.targetStorageClassName',
      'storageClassName should keep the consistency',
      `Name the same class in spec.targetStorageClassName and in the annotation ${classAnnotation}.`,
    );
  if (named) return baseProblem(named, classField, objects);
  return target ? baseProblem(target, 'spec.targetStorageClassName', objects) : undefined;
}

function baseProblem(
  name: string,
  field: string,
  objects: AdmissionContext['objects'],
): AdmissionVerdict | undefined {
  const found = objects.find(classes, { name }) as StorageClass | undefined;
  if (!found)
    return invalid(
      field,
      `storage class ${name} not found`,
      'Name one of kubectl get storageclasses, or none.',
    );
  if (found.provisioner !== storageDriver || !found.parameters?.['backingImage']) return undefined;
  return invalid(
    field,
    `storage class ${name} is the class of an image and cannot be the base of another`,
    'Name a class that stands for no image, or none.',
  );
}

function checkAvailable({ spec }: VirtualMachineImage): AdmissionVerdict | undefined {
  if (spec.backend === 'cdi')
    return invalid(
      'spec.backend',
      'the backend cdi is not available: images are kept beside the volumes made from them',
      'Leave spec.backend out.',
    );
  if (spec.sourceType === 'restore')
    return invalid(
      'spec.sourceType',
      'an image cannot come from a backup: this release keeps no backups',
      'Use download or upload.',
    );
  return undefined;
}

function checkUrls(image: VirtualMachineImage): AdmissionVerdict | undefined {
  const { sourceType, url = '' } = image.spec;
  const field = 'spec.url';
  if (sourceType !== 'download') {
    if (url === '') return undefined;
    return invalid(
      field,
      `url should be empty when image source type is "${sourceType}"`,
      'Leave spec.url out, or use sourceType download.',
    );
  }
  if (url === '') return invalid(field, 'url is required', 'Give the http or https address of the image.');
  const problem = urlProblem(url);
  if (problem !== undefined) return invalid(field, `url is invalid: ${problem}`, addressWayOut);
  const mirror = mirrorsOf(image).find((each) => urlProblem(each) !== undefined);
  if (mirror === undefined) return undefined;
  const mirrorsField = `metadata.annotations[${mirrorsAnnotation}]`;
  return invalid(mirrorsField, `the mirror "${mirror}" is invalid: ${urlProblem(mirror)}`, addressWayOut);
}

const addressWayOut = 'Give an address that begins with http:// or https://, or upload the file instead.';

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'it is no URL';
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? undefined : `${protocol}// is not downloaded from`;
}

export function checksumProblem({ spec }: VirtualMachineImage): AdmissionVerdict | undefined {
  const { checksum = '' } = spec;
  if (checksum === '' || /^[0-9a-fA-F]{128}$/.test(checksum)) return undefined;
  return invalid(
    'spec.checksum',
    'checksum is no SHA-512: that has 128 hexadecimal digits',
    'Take the first word of what sha512sum FILE prints, or leave it out.',
  );
}

/** The schema says so, too; this says what to do. */
function retryProblem({ spec: { retry = 0 } }: VirtualMachineImage): AdmissionVerdict | undefined {
  if (Number.isInteger(retry) && retry >= 0 && retry <= 10) return undefined;
  return invalid('spec.retry', `retry is ${retry}`, 'Give a whole number from 0 to 10.');
}

async function checkOriginal(
  image: VirtualMachineImage,
  context: AdmissionContext,
): Promise<AdmissionVerdict | undefined> {
  const { spec, metadata } = image;
  if (spec.sourceType !== 'clone') return undefined;
  const { securityParameters: security } = spec;
  const plain = metadata.annotations?.[cloneAnnotation];
  if (!security && plain === undefined)
    return invalid(
      'spec.securityParameters',
      'securityParameters is required when image source type is "clone"',
      `To copy an image as it is, name it in the annotation ${cloneAnnotation}: NAMESPACE/NAME.`,
    );
  const place = security
    ? { namespace: security.sourceImageNamespace, name: security.sourceImageName }
    : placeOf(plain);
  const field = security
    ? 'spec.securityParameters.sourceImageName'
    : `metadata.annotations[${cloneAnnotation}]`;
  if (!place?.name || !place.namespace)
    return invalid(field, 'the image to be copied is not named', 'Give its namespace and its name.');
  return checkSource(image, { place, field }, context);
}

interface Named {
  readonly place: { readonly namespace: string; readonly name: string };
  readonly field: string;
}

async function checkSource(
  image: VirtualMachineImage,
  { place, field }: Named,
  context: AdmissionContext,
): Promise<AdmissionVerdict | undefined> {
  const id = `${place.namespace}/${place.name}`;
  if (!(await context.may({ verb: 'get', ...images, ...place })))
    return invalid(
      field,
      `user "${context.user.name}" is not allowed to access source image ${id}`,
      'Ask for the right to get it, or copy another image.',
    );
  const source = context.objects.find(images, place) as VirtualMachineImage | undefined;
  if (!source)
    return invalid(field, `source image ${id} not found`, 'Name one of kubectl get virtualmachineimages -A.');
  const crypto = cryptoProblem(image, source, context);
  if (crypto) return crypto;
  if (isImported(source)) return undefined;
  return invalid(
    field,
    `source image ${imageIdOf(source)} (${source.spec.displayName}) is not ready`,
    'Wait until its condition Imported is True.',
  );
}

/** All that can be wrong with an encryption is said first; then that there is none. */
function cryptoProblem(
  image: VirtualMachineImage,
  source: VirtualMachineImage,
  context: AdmissionContext,
): AdmissionVerdict | undefined {
  const operation = image.spec.securityParameters?.cryptoOperation;
  if (operation === undefined) return undefined;
  const field = 'spec.securityParameters.cryptoOperation';
  const name = `${imageIdOf(source)} (${source.spec.displayName})`;
  const copyIt = `To copy an image as it is, name it in the annotation ${cloneAnnotation} and leave securityParameters out.`;
  const isEncrypted = source.spec.securityParameters?.cryptoOperation === 'encrypt';
  if (operation === 'encrypt' && isEncrypted)
    return invalid(field, `can not re-encrypt, source image ${name} is already encrypted`, copyIt);
  if (operation === 'decrypt' && !isEncrypted)
    return invalid(field, `can not re-decrypt, source image ${name} is not encrypted`, copyIt);
  const unfit = operation === 'encrypt' ? encryptingClassProblem(image, context) : undefined;
  if (unfit) return unfit;
  return invalid(
    field,
    'images in a directory are kept as they are: none is encrypted or decrypted',
    `Encrypt the file system of the host. ${copyIt}`,
  );
}

function encryptingClassProblem(
  { metadata }: VirtualMachineImage,
  { objects }: AdmissionContext,
): AdmissionVerdict | undefined {
  const name = metadata.annotations?.[classAnnotation];
  if (!name)
    return invalid(
      classField,
      'storageClassName is required when using security params',
      'Name a storage class that encrypts.',
    );
  const found = objects.find(classes, { name }) as StorageClass | undefined;
  if (found?.parameters?.['encrypted'] === 'true') return undefined;
  return invalid(
    classField,
    `storage class ${name} is not for encryption or decryption`,
    'Name a storage class whose parameter encrypted is "true".',
  );
}

async function checkClaim(
  { spec }: VirtualMachineImage,
  context: AdmissionContext,
): Promise<AdmissionVerdict | undefined> {
  if (spec.sourceType !== 'export-from-volume') return undefined;
  const { pvcNamespace: namespace = '', pvcName: name = '' } = spec;
  const nameIt = 'Name the volume that the image is to be made from.';
  for (const [field, value] of [
    ['pvcNamespace', namespace],
    ['pvcName', name],
  ] as const)
    if (value === '')
      return invalid(
        `spec.${field}`,
        `${field} is required when image source type is "export-from-volume"`,
        nameIt,
      );
  if (!(await context.may({ verb: 'get', ...claims, namespace, name })))
    return invalid(
      'spec.pvcName',
      `user has no permission to get the pvc resource ${namespace}/${name}`,
      'Ask for the right to get it, or name another volume.',
    );
  if (context.objects.find(claims, { namespace, name })) return undefined;
  return invalid('spec.pvcName', `there is no pvc ${namespace}/${name}`, nameIt);
}
