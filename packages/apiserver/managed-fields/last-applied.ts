import type { TypeSchema } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@sheaf/base';
import { changedFields, compareValues } from './compare.ts';
import { fieldSetOf } from './extract.ts';
import { elementText } from './field-path.ts';
import { difference, emptySet, type FieldSet, union } from './field-set.ts';
import { findTypeProblems } from './validate-applied.ts';

/** The manager name of `kubectl apply --server-side`, for which the annotation of client-side apply is heeded and kept. */
export const kubectlManager = 'kubectl';
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
/** The size that all annotations of an object may have together. */
const maxAnnotationBytes = 256 * 1024;

interface ConfigurationType {
  readonly apiVersion: string;
  readonly schema: TypeSchema;
}

/** The fields that the last client-side apply set and that still have its values; nothing if there was none. */
export function allowedByLastApplied(type: ConfigurationType, live: JsonObject): FieldSet {
  const last = parseConfiguration(annotationsOf(live)?.[annotation]);
  if (last === undefined || last['apiVersion'] !== type.apiVersion) return emptySet;
  if (findTypeProblems(last, type.schema).length > 0) return emptySet;
  const comparison = compareValues(last, live, type.schema);
  const different = union(changedFields(comparison), comparison.removed);
  return difference(fieldSetOf(last, type.schema), different);
}

/** Brings the annotation of client-side apply, if the object has one, up to date with what was applied on the server. */
export function syncLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const metadata = object['metadata'];
  const annotations = annotationsOf(object);
  if (!isJsonObject(metadata) || annotations === undefined || !annotations[annotation]) return object;
  const value = `${elementText(withoutAnnotation(applied))}\n`;
  if (annotations[annotation] === value) return object;
  const { [annotation]: _, ...others } = annotations;
  const synced = { ...others, [annotation]: value };
  const isTooLarge = Buffer.byteLength(JSON.stringify(synced)) > maxAnnotationBytes;
  return { ...object, metadata: { ...metadata, annotations: isTooLarge ? others : synced } };
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const metadata = applied['metadata'];
  const annotations = annotationsOf(applied);
  if (!isJsonObject(metadata) || annotations === undefined) return applied;
  const { [annotation]: _, ...others } = annotations;
  return { ...applied, metadata: { ...metadata, annotations: others } };
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = ownField(object, 'metadata');
  const annotations = isJsonObject(metadata) ? ownField(metadata, 'annotations') : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function parseConfiguration(text: JsonValue | undefined): JsonObject | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    // An annotation that cannot be read permits nothing; the conflicts are reported as they are.
    return undefined;
  }
}
