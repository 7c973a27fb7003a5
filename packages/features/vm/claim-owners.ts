import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';

/** Which objects a claim belongs to, as Harvester notes it. */
export const ownersAnnotation = 'harvesterhci.io/owned-by';
const schema = 'kubevirt.io.virtualmachine';

type Annotations = Readonly<Record<string, string>> | undefined;

/** `machine`: `NAMESPACE/NAME`. */
export function isOwnedBy(annotations: Annotations, machine: string): boolean {
  return refsOf(ownOf(read(annotations))).includes(machine);
}

/** Any machine has it. */
export function hasOwners(annotations: Annotations): boolean {
  return refsOf(ownOf(read(annotations))).length > 0;
}

/** The annotations with the machine among the owners; the very same if it is. */
export function withOwner(annotations: Annotations, machine: string): Annotations {
  if (isOwnedBy(annotations, machine)) return annotations;
  const owners = read(annotations);
  return written(annotations, owners, [...refsOf(ownOf(owners)), machine].sort());
}

/** The annotations without the machine; the very same if it is not among the owners. */
export function withoutOwner(annotations: Annotations, machine: string): Annotations {
  if (!isOwnedBy(annotations, machine)) return annotations;
  const owners = read(annotations);
  return written(
    annotations,
    owners,
    refsOf(ownOf(owners)).filter((ref) => ref !== machine),
  );
}

function written(
  annotations: Annotations,
  owners: readonly JsonObject[],
  refs: readonly string[],
): Annotations {
  const others = owners.filter((owner) => owner['schema'] !== schema);
  const next = refs.length > 0 ? [...others, { schema, refs: [...refs] }] : others;
  const { [ownersAnnotation]: _, ...rest } = annotations ?? {};
  return next.length > 0 ? { ...rest, [ownersAnnotation]: JSON.stringify(next) } : rest;
}

function ownOf(owners: readonly JsonObject[]): JsonObject | undefined {
  return owners.find((owner) => owner['schema'] === schema);
}

function refsOf(owner: JsonObject | undefined): readonly string[] {
  const refs = owner?.['refs'];
  return Array.isArray(refs) ? refs.filter((ref) => typeof ref === 'string') : [];
}

/** What cannot be read names nobody, and is written anew. */
function read(annotations: Annotations): readonly JsonObject[] {
  try {
    const owners = JSON.parse(annotations?.[ownersAnnotation] ?? '[]') as JsonValue;
    return Array.isArray(owners) ? owners.filter((owner) => isJsonObject(owner)) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
