import type {
  PersistentVolumeClaim,
  VirtualMachineBackup,
  VirtualMachineImage,
  VirtualMachineTemplateVersion,
} from '@sheaf/api/virtualization/index';
import { isJsonObject, type JsonValue } from '@sheaf/base';
import { classNamesOf, imageIdAnnotation, imageIdOf } from './image-names.ts';

/** Objects that may need an image. */
export interface UserObjects {
  readonly claims: readonly PersistentVolumeClaim[];
  readonly templateVersions: readonly VirtualMachineTemplateVersion[];
  readonly backups: readonly VirtualMachineBackup[];
}

const claimTemplates = 'harvesterhci.io/volumeClaimTemplates';
const mostNamed = 10;

/** Who needs an image, in the words of people: `volume NAMESPACE/NAME` … */
export function usersOf(
  image: VirtualMachineImage,
  { claims, templateVersions, backups }: UserObjects,
): readonly string[] {
  const classes = new Set([...classNamesOf(image), image.status?.storageClassName ?? '']);
  classes.delete('');
  const isOfClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
    classes.has(
      spec.storageClassName ?? metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? '',
    );
  return [
    ...templateVersions
      .filter((version) => isTemplateUser(version, image, classes))
      .map(({ metadata }) => `template version ${metadata.namespace}/${metadata.name}`),
    ...claims.filter(isOfClass).map(({ metadata }) => `volume ${metadata.namespace}/${metadata.name}`),
    ...backups
      .filter((backup) => isBackupUser(backup, classes))
      .map(({ metadata }) => `backup ${metadata.namespace}/${metadata.name}`),
  ];
}

/** All of them, up to a bound. */
export function namesOf(users: readonly string[]): string {
  const more = users.length - mostNamed;
  return more > 0 ? `${users.slice(0, mostNamed).join(', ')} and ${more} more` : users.join(', ');
}

function isTemplateUser(
  { metadata, spec }: VirtualMachineTemplateVersion,
  image: VirtualMachineImage,
  classes: ReadonlySet<string>,
): boolean {
  const id = imageIdOf(image);
  const isOwner = image.metadata.ownerReferences?.some(
    ({ kind, uid }) => kind === 'VirtualMachineTemplateVersion' && uid === metadata.uid,
  );
  if (spec.imageId === id || isOwner === true) return true;
  const claims = parsed(spec.vm?.metadata?.annotations?.[claimTemplates]);
  return (Array.isArray(claims) ? claims : []).some((claim) => isClaimOf(claim, id, classes));
}

function isClaimOf(claim: JsonValue, id: string, classes: ReadonlySet<string>): boolean {
  const className = at(claim, 'spec', 'storageClassName');
  if (typeof className === 'string' && classes.has(className)) return true;
  return at(claim, 'metadata', 'annotations', imageIdAnnotation) === id;
}

function isBackupUser({ status }: VirtualMachineBackup, classes: ReadonlySet<string>): boolean {
  return (status?.volumeBackups ?? []).some(({ persistentVolumeClaim }) =>
    classes.has(persistentVolumeClaim?.spec?.storageClassName ?? ''),
  );
}

function parsed(text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // What cannot be read names nothing.
    return undefined;
  }
}

function at(value: JsonValue, ...path: readonly string[]): JsonValue | undefined {
  let inner: JsonValue | undefined = value;
  for (const field of path) inner = isJsonObject(inner) ? inner[field] : undefined;
  return inner;
}
