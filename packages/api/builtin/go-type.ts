import type { JsonValue } from '@sheaf/base';

export type ScalarKind = 'string' | 'bool' | 'int32' | 'int64' | 'float64';

/** Types with a JSON form of their own. */
export type SpecialKind =
  | 'bytes'
  | 'quantity'
  | 'intOrString'
  | 'time'
  | 'microTime'
  | 'fieldsV1'
  | 'rawExtension'
  | 'json'
  | 'any'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray';

/** A Go type as the codecs see it. */
export interface GoType {
  readonly kind: ScalarKind | SpecialKind | 'list' | 'map' | 'struct';
  /** As Go prints it, without a pointer's star: `v1.Protocol`, `[]v1.Container`. */
  readonly goName: string;
  readonly isPointer: boolean;
  /** Items of a list, values of a map. */
  readonly items: GoType | undefined;
  readonly struct: GoStruct | undefined;
  /** A list that is a message of its own in protobuf (`Verbs`, `ExtraValue`). */
  readonly isWrapped: boolean;
}

/** A named field of a struct's JSON; embedded structs are laid out flat. */
export interface GoField {
  readonly json: string;
  /** Where Go reports errors in it: embedded structs are named, e.g. `VolumeSource.configMap`. */
  readonly errorPath: string;
  readonly type: GoType;
  readonly omitsEmpty: boolean;
  /** What Go writes when nothing was given: a constant, undefined for nothing, or an empty struct. */
  readonly absent: JsonValue | undefined;
  readonly absentStruct: GoStruct | undefined;
  readonly patchStrategies: readonly string[];
  readonly patchMergeKey: string | undefined;
  readonly listType: 'atomic' | 'set' | 'map';
  readonly mapKeys: readonly MapKey[];
  readonly isMapAtomic: boolean;
}

export interface MapKey {
  readonly name: string;
  readonly defaultValue: string | number | boolean | undefined;
}

/** A field of a struct's protobuf message: either a JSON field, or an embedded struct whose fields start at `slot`. */
export interface ProtoField {
  readonly number: number;
  /** Name in JSON; empty for embedded structs. */
  readonly json: string;
  /** Index in the outermost struct's flat `fields`, relative to where this struct's own begin. */
  readonly slot: number;
  readonly type: GoType;
  readonly embedded: GoStruct | undefined;
}

export interface GoStruct {
  /** e.g. `core/v1.PodSpec` */
  readonly name: string;
  /** e.g. `PodSpec` */
  readonly shortName: string;
  /** e.g. `v1.PodSpec` */
  readonly goName: string;
  readonly isAtomic: boolean;
  readonly fields: readonly GoField[];
  /** In the order of their numbers. */
  readonly protoFields: readonly ProtoField[];
  readonly fieldsByName: ReadonlyMap<string, GoField>;
  /** Index in `fields` by JSON name. */
  readonly slotsByName: ReadonlyMap<string, number>;
  readonly protoFieldsByNumber: readonly (ProtoField | undefined)[];
}
