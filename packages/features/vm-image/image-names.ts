import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';

/** Whose parameters the image's own class takes over. */
export const classAnnotation = 'harvesterhci.io/storageClassName';
export const displayNameLabel = 'harvesterhci.io/imageDisplayName';
/** On a class: `NAMESPACE/NAME` of the image that it stands for. */
export const imageIdAnnotation = 'harvesterhci.io/imageId';
/** Further addresses with the same content, tried after `spec.url`; separated by white space or commas. */
export const mirrorsAnnotation = 'sheaf.dev/mirrors';
/** With `clone` and without encryption: `NAMESPACE/NAME` of the image that is copied. */
export const cloneAnnotation = 'sheaf.dev/clone-from';
/** Whatever it says: what has failed starts again. It is taken off when that has been done. */
export const retryAnnotation = 'sheaf.dev/retry';
/** Which order was given for the image: another one starts again. */
export const orderAnnotation = 'sheaf.dev/image-order';
/** `true`: a class with the name of older releases of Harvester is made as well. */
export const legacyClassAnnotation = 'sheaf.dev/legacy-storage-class';
export const imageFinalizer = 'sheaf.dev/image';

/** `NAMESPACE/NAME` */
export function imageIdOf({ metadata }: VirtualMachineImage): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** What classes call the content of an image. */
export function backingImageOf({ metadata }: VirtualMachineImage): string {
  return `vmi-${metadata.uid ?? ''}`;
}

/** The class that makes volumes with the content of an image. */
export function classNameOf({ metadata }: VirtualMachineImage): string {
  return `lh-${metadata.uid ?? ''}`;
}

/** All classes that stand for an image. */
export function classNamesOf(image: VirtualMachineImage): readonly string[] {
  const { name = '', annotations } = image.metadata;
  const own = classNameOf(image);
  return annotations?.[legacyClassAnnotation] === 'true' ? [own, `longhorn-${name}`] : [own];
}

/** The two words of `NAMESPACE/NAME`; `undefined`: it is no such thing. */
export function placeOf(
  text: string | undefined,
): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = /^([^/\s]+)\/([^/\s]+)$/.exec(text ?? '') ?? [];
  return namespace !== undefined && name !== undefined ? { namespace, name } : undefined;
}

export function mirrorsOf({ metadata }: VirtualMachineImage): readonly string[] {
  return (metadata.annotations?.[mirrorsAnnotation] ?? '').split(/[\s,]+/).filter((url) => url !== '');
}
