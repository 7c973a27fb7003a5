import type { KubeObject, ObjectMeta } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';

/** What built-in and custom kinds do alike on the way in. */
export interface SharedTraits {
  readonly hasStatus: boolean;
  readonly tracksGeneration: boolean;
}

export function startGeneration(object: KubeObject, traits: SharedTraits): void {
  if (traits.hasStatus) delete object['status'];
  if (traits.tracksGeneration) object.metadata.generation = 1;
}

/** An update of the main endpoint: status stays, the generation grows if anything but metadata changes. */
export function keepStatus(next: KubeObject, old: KubeObject, traits: SharedTraits): void {
  if (traits.hasStatus) {
    if (old['status'] === undefined) delete next['status'];
    else next['status'] = old['status'];
  }
  if (!traits.tracksGeneration) return;
  const generation = old.metadata.generation ?? 0;
  next.metadata.generation = hasSameSpec(next, old) ? generation : generation + 1;
}

/** What of the metadata an update of `/status` may change: nothing, everything, or everything but some fields. */
export type StatusMetadata = 'none' | 'all' | 'all-but-labels' | 'all-but-owners';

/** An update of `/status`: everything but the status, the booking of its fields and the metadata it may change stays. */
export function keepAllButStatus(next: KubeObject, old: KubeObject, changes: StatusMetadata = 'none'): void {
  const status = next['status'];
  const { managedFields, resourceVersion } = next.metadata;
  const sent = next.metadata;
  for (const field of Object.keys(next)) if (!(field in old)) delete next[field];
  for (const field of Object.keys(old)) next[field] = old[field];
  const metadata = statusMetadata(sent, old.metadata, changes);
  if (managedFields) metadata.managedFields = managedFields;
  else delete metadata.managedFields;
  if (resourceVersion) metadata.resourceVersion = resourceVersion;
  next.metadata = metadata;
  if (status === undefined) delete next['status'];
  else next['status'] = status;
}

function statusMetadata(sent: ObjectMeta, old: ObjectMeta, changes: StatusMetadata): ObjectMeta {
  if (changes === 'none') return { ...old };
  const metadata: ObjectMeta = { ...sent };
  if (changes === 'all-but-labels') restore(metadata, old, 'labels');
  if (changes === 'all-but-owners') restore(metadata, old, 'ownerReferences');
  return metadata;
}

function restore<K extends 'labels' | 'ownerReferences'>(to: ObjectMeta, from: ObjectMeta, field: K): void {
  const value = from[field];
  if (value === undefined) delete to[field];
  else to[field] = value;
}

function hasSameSpec(next: KubeObject, old: KubeObject): boolean {
  const fields = new Set([...Object.keys(next), ...Object.keys(old)]);
  for (const field of fields) {
    if (field === 'metadata' || field === 'status' || field === 'kind' || field === 'apiVersion') continue;
    if (!jsonEqual(next[field] as JsonValue | undefined, old[field] as JsonValue | undefined)) return false;
  }
  return true;
}

/** The value at a path of field names, or `undefined`. */
export function valueAt(object: KubeObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object as unknown as JsonObject;
  for (const field of path) value = isJsonObject(value) ? value[field] : undefined;
  return value;
}
