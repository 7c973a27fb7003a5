import { failure } from './failure.ts';

/**
 * A CEL value at run time. `int` is a bigint within int64, `double` is a number, `string` is a JavaScript string
 * (CEL counts its code points), `bytes` is a Uint8Array; everything else is one of the classes below.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | Optional
  | TypeValue
  | Opaque;

/** An unsigned 64-bit integer. */
export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A moment as nanoseconds since 1970-01-01 UTC, within the years 1 to 9999. */
export class Timestamp {
  readonly nanos: bigint;
  /** Seconds east of UTC, in which the moment is written; for text only. */
  readonly offset: number;
  constructor(nanos: bigint, offset = 0) {
    this.nanos = nanos;
    this.offset = offset;
  }
}

/** A span in nanoseconds, within int64. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A list. Elements are made when they are read, so that a JSON array costs nothing until it is used. */
export abstract class ListValue {
  abstract readonly size: number;
  /** `index` is within the list. */
  abstract get(index: number): Value;
}

/** A map, or an object with fields. */
export abstract class MapValue {
  abstract readonly size: number;
  /** `undefined` where the key is absent. */
  abstract find(key: Value): Value | undefined;
  /** In the order of the source. */
  abstract keys(): readonly Value[];
}

export class ArrayList extends ListValue {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
  get size(): number {
    return this.items.length;
  }
  get(index: number): Value {
    return this.items[index] ?? null;
  }
}

/** A map made by an expression. Keys are scalars; 1, 1u and 1.0 are the same key. */
export class EntryMap extends MapValue {
  readonly #entries = new Map<string, readonly [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  /** Overwrites. */
  set(key: Value, value: Value): void {
    const id = mapKey(key);
    if (id === undefined) throw failure(`unsupported key type: ${typeName(key)}`);
    this.#entries.set(id, [key, value]);
  }

  find(key: Value): Value | undefined {
    const id = mapKey(key);
    return id === undefined ? undefined : this.#entries.get(id)?.[1];
  }

  keys(): readonly Value[] {
    return Array.from(this.#entries.values(), (entry) => entry[0]);
  }
}

/** An object made by an expression with a type name, e.g. `JSONPatch{op: "remove"}`. */
export class StructValue extends EntryMap {
  readonly type: string;
  constructor(type: string) {
    super();
    this.type = type;
  }
}

/** `optional.of(value)`, or nothing if `value` is undefined. */
export class Optional {
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const none = new Optional(undefined);

/** A type as a value, e.g. the result of `type(1)`. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library type, such as a quantity or an IP address. */
export abstract class Opaque {
  /** The name of the CEL type, e.g. `kubernetes.Quantity`. */
  abstract readonly type: string;
  abstract equals(other: Opaque): boolean;
}

/** The identity of a map key, the same for equal numbers of different types. */
export function mapKey(key: Value): string | undefined {
  switch (typeof key) {
    case 'string':
      return `s${key}`;
    case 'bigint':
      return `n${key}`;
    case 'boolean':
      return key ? 'btrue' : 'bfalse';
    case 'number':
      return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
    default:
      return key instanceof Uint ? `n${key.value}` : undefined;
  }
}

/** The name of the CEL type of a value, as `type(value)` shows it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'double';
    default:
      return value === null ? 'null_type' : objectTypeName(value);
  }
}

type ObjectValue = Exclude<Value, null | boolean | bigint | number | string>;

function objectTypeName(value: ObjectValue): string {
  if (value instanceof ListValue) return 'list';
  if (value instanceof StructValue) return value.type;
  if (value instanceof MapValue) return 'map';
  if (value instanceof Opaque) return value.type;
  return builtInName(value);
}

function builtInName(value: Uint | Uint8Array | Timestamp | Duration | Optional | TypeValue): string {
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  return value instanceof Optional ? 'optional_type' : 'type';
}
