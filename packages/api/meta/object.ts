import type { JsonObject, JsonValue } from '@sheaf/base';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One entry of `metadata.managedFields`; its identity is manager + operation + apiVersion + subresource. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: 'FieldsV1';
  fieldsV1?: JsonObject;
  subresource?: string;
}

/** `metav1.ObjectMeta`. Times are RFC 3339 in seconds, UTC. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
  selfLink?: string;
}

/** Any API object: built-in or custom. `KubeObject & JsonObject` is what the server carries through its pipeline. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** `v1` for the core group, else `group/version`. */
export function toApiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** `configmaps` or `widgets.example.com`: how messages and CRD names spell a resource. */
export function toGroupResource(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Which object it is: an object that has been written has all of them, at cluster scope without a namespace. */
export function identityOf({ metadata }: Pick<KubeObject, 'metadata'>): {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
} {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { namespace, name, uid };
}

/** The object seen as plain JSON; both views are the same value. */
export function asJson(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

export function asObject(json: JsonValue | undefined): KubeObject {
  return json as unknown as KubeObject;
}
