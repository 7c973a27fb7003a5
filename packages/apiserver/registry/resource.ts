import type { FieldError, GroupVersionKind, KubeObject, NameRule, TypeSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { ResetFields } from '../managed-fields/index.ts';
import type { ResourceStore } from '../storage/resource-store.ts';
import type { TableColumns } from '../table/columns.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What is served at `/apis/GROUP/VERSION/…/PLURAL`: a kind in one version. Built-in and custom kinds are both this. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  /** Built-in kinds have protobuf and strategic merge patches; their list items carry no kind and apiVersion. */
  readonly isBuiltin: boolean;
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly strategy: Strategy;
  /** True for the version in which objects are kept. */
  readonly isStorageVersion: boolean;
  /** Where its objects are; shared by all versions of the resource. `undefined` for kinds that are only asked, never kept (SubjectAccessReview). */
  readonly store: ResourceStore | undefined;
  readonly columns: TableColumns;
  /** Text for the `Warning` header of a deprecated version. */
  readonly deprecationWarning?: string;
}

export interface Subresource {
  readonly name: string;
  /** The kind that is read and written there, e.g. autoscaling/v1 Scale. */
  readonly kind: GroupVersionKind;
  readonly verbs: readonly string[];
}

/** How a kind behaves on its way in and out; made once for each version. */
export interface Strategy {
  readonly nameRule: NameRule;
  readonly allowsCreateOnUpdate: boolean;
  readonly allowsUnconditionalUpdate: boolean;
  readonly defaultPropagation: 'Background' | 'Orphan';
  readonly typeSchema: TypeSchema;
  /** Fields other than metadata.name and metadata.namespace that field selectors may use. */
  readonly selectableFieldNames: ReadonlySet<string>;
  selectableFields(object: KubeObject): Record<string, string>;
  /** Turns a client's JSON into the kind's shape, dropping unknown fields; returns a sentence for each, e.g. `unknown field "spec.zork"`. @throws StatusError 400 */
  conform(object: KubeObject): { readonly object: KubeObject; readonly unknownFields: readonly string[] };
  /** The same sentences for an object that says it is of another kind or version, as far as that one is known. `json` belongs to the call. @throws StatusError 400 */
  unknownFieldsAs(kind: GroupVersionKind, json: JsonObject): readonly string[];
  applyDefaults(object: KubeObject): void;
  /** Status cleared, generation set. */
  prepareForCreate(object: KubeObject): void;
  /** `subresource` is '' or 'status': restores from `old` what the endpoint may not change, moves the generation. */
  prepareForUpdate(next: KubeObject, old: KubeObject, subresource: string): void;
  /** What the first delete does beyond marking the object, e.g. adding a finalizer. */
  prepareForDelete?(object: KubeObject): void;
  /** True while something besides `metadata.finalizers` holds an object that is being deleted. */
  isHeld?(object: KubeObject): boolean;
  /** True for kinds whose deletion answers the object that is gone. */
  readonly isShownWhenDeleted?: boolean;
  /** What a client is told that deletes without a policy, where that leaves dependents behind. */
  readonly orphaningWarning?: string;
  validateCreate(object: KubeObject): readonly FieldError[];
  validateUpdate(next: KubeObject, old: KubeObject, subresource: string): readonly FieldError[];
  warnings(next: KubeObject, old: KubeObject | undefined): readonly string[];
  /** What the kind looks like with nothing set: what a new object is compared with to book its fields. */
  emptyObject(): KubeObject;
  /** Fields that writes to this endpoint never own, e.g. the status on the main endpoint. */
  resetFields(subresource: string): ResetFields;
  /** Into the version that is kept. May call a conversion webhook. */
  toStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
  /** From the version that is kept; applies what the schema has gained since. */
  fromStorage(objects: readonly KubeObject[]): readonly KubeObject[] | Promise<readonly KubeObject[]>;
  /** True where a kept object is served as it is, apart from its apiVersion: no conversion, no schema change since. */
  readonly servesStoredBytes: boolean;
  /** The revision since which the schema is as it is; older objects are read by `fromStorage`. 0: it never changes. */
  readonly schemaRevision: number;
}
