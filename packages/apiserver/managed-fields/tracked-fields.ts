import type { TypeSchema } from '@sheaf/api';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import { type Comparison, compareValues } from './compare.ts';
import { difference, type FieldSet, fieldsNamed } from './field-set.ts';

const untrackedMeta = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** Fields that belong to the server and never appear in `managedFields`. */
export const untrackedFields: FieldSet = fieldsNamed(
  'apiVersion',
  'kind',
  'metadata',
  ...untrackedMeta.map((name) => `metadata.${name}`),
);

export function withoutUntracked(set: FieldSet): FieldSet {
  return difference(set, untrackedFields);
}

/** The object without `metadata.managedFields`, which is never compared or merged. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  if (!isJsonObject(metadata) || metadata['managedFields'] === undefined) return object;
  const { managedFields: _, ...kept } = metadata;
  return { ...object, metadata: kept };
}

/** How two versions of an object differ, `metadata.managedFields` aside. */
export function compareObjects(before: JsonObject, after: JsonObject, schema: TypeSchema): Comparison {
  return compareValues(withoutManagedFields(before), withoutManagedFields(after), schema);
}

export function managedFieldsOf(object: JsonObject): JsonObject['managedFields'] {
  const metadata = object['metadata'];
  return isJsonObject(metadata) ? metadata['managedFields'] : undefined;
}
