import { asJson, type KubeObject, type ManagedFieldsEntry } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { managedFieldsOf } from './tracked-fields.ts';

/** The object with these managedFields, none if there are none; shares everything else. */
export function withManagedFields(object: JsonObject, entries: readonly ManagedFieldsEntry[]): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { managedFields: _, ...kept } = metadata;
  if (entries.length === 0) return { ...object, metadata: kept };
  return { ...object, metadata: { ...kept, managedFields: entries as unknown as JsonValue } };
}

/**
 * The object to be written, or the live one itself if they differ in nothing but the times of their managedFields: such a change is none.
 */
export function withoutTimeOnlyChange(live: KubeObject, next: KubeObject): KubeObject {
  const before = managedFieldsOf(asJson(live));
  const after = managedFieldsOf(asJson(next));
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return next;
  const isSame = after.every((entry, index) => jsonEqual(withoutTime(entry), withoutTime(before[index])));
  if (!isSame) return next;
  const timed = withManagedFields(asJson(next), live.metadata.managedFields ?? []);
  return jsonEqual(timed, asJson(live)) ? live : next;
}

function withoutTime(entry: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(entry)) return entry;
  const { time: _, ...others } = entry;
  return others;
}
