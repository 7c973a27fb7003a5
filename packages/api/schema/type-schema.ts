/**
 * What merging, pruning and unknown-field checks need to know of a kind: its shape, without its validation rules.
 * Compiled once from the OpenAPI definitions of built-in kinds or from a CRD's structural schema; recursive kinds
 * (JSONSchemaProps) refer back to the same node, so a walk is bounded by its value, never by the schema.
 */
export type TypeSchema = ScalarSchema | ObjectSchema | MapSchema | ListSchema | AnySchema;

export interface ScalarSchema {
  readonly type: 'scalar';
  /** How a typed kind reads it; custom resources keep `quantity`s as they were written. */
  readonly format:
    | 'string'
    | 'integer'
    | 'number'
    | 'boolean'
    | 'int-or-string'
    | 'quantity'
    | 'bytes'
    | 'time'
    | 'micro-time';
  readonly nullable: boolean;
}

/** A struct: named fields. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** Fields that are not named are kept (`x-kubernetes-preserve-unknown-fields`). */
  readonly preserveUnknown: boolean;
  /** `x-kubernetes-map-type: atomic`: owned and replaced as a whole by server-side apply. */
  readonly isAtomic: boolean;
  /** `x-kubernetes-embedded-resource`: apiVersion, kind and metadata are known here. */
  readonly isEmbeddedResource: boolean;
  readonly nullable: boolean;
}

export interface FieldSchema {
  readonly schema: TypeSchema;
  /** `x-kubernetes-patch-strategy`, split at commas: merge, replace, retainKeys. */
  readonly patchStrategies: readonly string[];
  /** `x-kubernetes-patch-merge-key` */
  readonly patchMergeKey: string | undefined;
}

/** A map from any key to values of one type. */
export interface MapSchema {
  readonly type: 'map';
  readonly values: TypeSchema;
  readonly isAtomic: boolean;
  readonly nullable: boolean;
}

export interface ListSchema {
  readonly type: 'list';
  readonly items: TypeSchema;
  readonly listType: 'atomic' | 'set' | 'map';
  /** The key fields of a `map` list, with the default a missing one has (e.g. ports: protocol TCP). */
  readonly mapKeys: readonly {
    readonly name: string;
    readonly defaultValue: string | number | boolean | undefined;
  }[];
  readonly nullable: boolean;
}

/** Anything goes: no schema, or unknown fields preserved. Server-side apply treats scalars and lists in it as atomic, maps as granular. */
export interface AnySchema {
  readonly type: 'any';
}
