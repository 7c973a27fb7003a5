import type {
  Duration,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  Value,
} from '../values/value.ts';

export type TypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'list'
  | 'map'
  | 'object'
  | 'opaque'
  | 'param';

/** A static type. `carries` exists only for the compiler of this source: the run-time values of the type. */
export interface CelType<V extends Value = Value> {
  readonly kind: TypeKind;
  /** Name as errors show it; the identity of objects, opaque types and parameters. */
  readonly name: string;
  readonly params: readonly CelType[];
  /** The fields of an object. A map may be filled later, so that types can be built from both ends. */
  readonly fields?: ReadonlyMap<string, CelType>;
  readonly carries?: V;
}

const noParams: readonly CelType[] = [];

function simple<V extends Value>(kind: TypeKind, name: string = kind): CelType<V> {
  return { kind, name, params: noParams };
}

export const dynType: CelType = simple('dyn');
export const errorType: CelType = simple('error', '!error!');
export const nullType: CelType<null> = simple('null');
export const boolType: CelType<boolean> = simple('bool');
export const intType: CelType<bigint> = simple('int');
export const uintType: CelType<Uint> = simple('uint');
export const doubleType: CelType<number> = simple('double');
export const stringType: CelType<string> = simple('string');
export const bytesType: CelType<Uint8Array> = simple('bytes');
export const timestampType: CelType<Timestamp> = simple('timestamp');
export const durationType: CelType<Duration> = simple('duration');

export function listOf(element: CelType): CelType<ListValue> {
  return { kind: 'list', name: 'list', params: [element] };
}

export function mapOf(key: CelType, value: CelType): CelType<MapValue> {
  return { kind: 'map', name: 'map', params: [key, value] };
}

export function optionalOf(value: CelType): CelType<Optional> {
  return { kind: 'opaque', name: 'optional_type', params: [value] };
}

export function typeOf(type: CelType): CelType<TypeValue> {
  return { kind: 'type', name: 'type', params: [type] };
}

export function opaqueType<V extends Opaque>(name: string): CelType<V> {
  return { kind: 'opaque', name, params: noParams };
}

export function typeParam(name: string): CelType {
  return { kind: 'param', name, params: noParams };
}

export function objectType(name: string, fields: ReadonlyMap<string, CelType>): CelType<MapValue> {
  return { kind: 'object', name, params: noParams, fields };
}

export function isOptional(type: CelType): boolean {
  return type.kind === 'opaque' && type.name === 'optional_type';
}

export function isDynamic(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

/** A type as compiler errors show it, e.g. `map(string, list(int))`. */
export function formatType(type: CelType): string {
  if (type.params.length === 0) return type.name;
  return `${type.name}(${type.params.map(formatType).join(', ')})`;
}

/** The arguments of a call as compiler errors show them: `(int, string)`, or `string.(int)` for a method. */
export function formatSignature(args: readonly CelType[], isMember: boolean): string {
  const [first, ...rest] = args.map(formatType);
  return isMember ? `${first}.(${rest.join(', ')})` : `(${args.map(formatType).join(', ')})`;
}

/** Whether two types are the same in all parts. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false;
  if (a.kind === 'object') return a.fields === b.fields;
  return a.params.every((param, index) => sameType(param, b.params[index] ?? dynType));
}
