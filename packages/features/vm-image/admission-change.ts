import { type AdmissionVerdict, allow, asJson } from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { isJsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { checksumProblem } from './admission-content.ts';
import { invalid } from './admission-words.ts';
import { isImported } from './image-conditions.ts';
import { classAnnotation } from './image-names.ts';

/** In the order in which clients know to be told of them. */
const fixed = [
  'storageClassParameters',
  'sourceType',
  'pvcNamespace',
  'pvcName',
  'url',
  'securityParameters',
  'displayName',
  'backend',
] as const;

const makeAnew = 'Delete the image and make it again, or make another one.';

/** What an image is made from is not changed under those who use it. */
export function checkChange(image: VirtualMachineImage, old: VirtualMachineImage): AdmissionVerdict {
  for (const name of fixed)
    if (!jsonEqual(fieldOf(image, name), fieldOf(old, name)))
      return invalid(`spec.${name}`, `${name} cannot be modified`, makeAnew);
  const moved = classProblem(image, old);
  if (moved) return moved;
  if (image.spec.checksum === old.spec.checksum) return allow();
  const problem = checksumProblem(image);
  if (problem) return problem;
  return isImported(image)
    ? allow('the content of the image is there already: a new checksum is not compared with it')
    : allow();
}

function fieldOf(image: VirtualMachineImage, name: string): JsonValue | undefined {
  const spec = asJson(image)['spec'];
  const value = isJsonObject(spec) ? spec[name] : undefined;
  return value === '' ? undefined : value;
}

/** A class may be named later, but not changed; both names mean the same. */
function classProblem(image: VirtualMachineImage, old: VirtualMachineImage): AdmissionVerdict | undefined {
  const message = 'storageClassName cannot be modified';
  const before = classNames(old);
  const { annotated, target } = classNames(image);
  if (before.annotated !== '' && annotated !== before.annotated)
    return invalid(`metadata.annotations[${classAnnotation}]`, message, makeAnew);
  const known = before.target || before.annotated;
  const isKept = target === known || (target === '' && before.target === '');
  return known === '' || isKept ? undefined : invalid('spec.targetStorageClassName', message, makeAnew);
}

function classNames({ metadata, spec }: VirtualMachineImage): {
  readonly annotated: string;
  readonly target: string;
} {
  return {
    annotated: metadata.annotations?.[classAnnotation] ?? '',
    target: spec.targetStorageClassName ?? '',
  };
}
