import { badRequest, canonicalQuantity, internalError, type JsonObject, type JsonValue } from '@sheaf/base';
import { zeroValue } from '../builtin/go-struct.ts';
import type { GoField, GoStruct, GoType } from '../builtin/go-type.ts';
import { canonicalBase64 } from './base64.ts';
import { diagnose } from './diagnose.ts';
import { canonicalMicroTime, canonicalTime } from './go-time.ts';
import { unknownFields } from './unknown-fields.ts';

export interface Conformed {
  /** Fields in Go's order, as Go would write the decoded value. Shares parts with the input. */
  readonly value: JsonObject;
  /** Sentences for warnings and strict errors, e.g. `unknown field "spec.zork"`; at most 100. */
  readonly unknownFields: readonly string[];
}

/** How an error names what was asked for. */
export interface ConformContext {
  /** The kind and version in the request, e.g. Deployment, v1. */
  readonly kind: string;
  readonly version: string;
}

/**
 * What decoding into the typed kind and encoding again does to a JSON value in Go: unknown fields dropped, quantities,
 * times and base64 made canonical, null and empty optional fields left out, zero values written where they are
 * required. The input belongs to the result afterwards. Throws 400 BadRequest, worded as upstream, for values that
 * do not fit the type.
 */
export function conform(value: JsonValue, struct: GoStruct, context: ConformContext): Conformed {
  const run = new Conformance();
  let conformed: JsonObject | undefined;
  let cause: unknown;
  try {
    // A body of null leaves Go's object as empty as it was.
    if (value === null) conformed = emptyStruct(struct);
    else if (isObject(value)) conformed = run.object(struct, value);
  } catch (error) {
    cause = error;
  }
  if (conformed === undefined) throw misfit({ value, struct, context, cause });
  return { value: conformed, unknownFields: run.hasUnknown ? unknownFields(struct, value) : none };
}

const none: readonly string[] = [];

function misfit(fault: {
  value: JsonValue;
  struct: GoStruct;
  context: ConformContext;
  cause: unknown;
}): Error {
  const { kind, version } = fault.context;
  const message = diagnose(fault.struct, fault.value);
  if (message === undefined) return internalError(`no reason found why ${kind} was refused`, fault.cause);
  const what = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${fault.struct.shortName}`;
  return badRequest(`${what}: ${message}`, fault.cause);
}

/** The value does not fit; `diagnose` finds the words. */
class Misfit extends Error {}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON objects may carry a field `__proto__`, which a plain assignment would not create. */
export function setEntry(target: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** An empty struct as Go writes it. */
export function emptyStruct(struct: GoStruct): JsonObject {
  const out: JsonObject = {};
  for (const field of struct.fields) putAbsent(out, field);
  return out;
}

/** Writes what Go writes for a field that was not given. */
export function putAbsent(out: JsonObject, field: GoField): void {
  if (field.absent !== undefined) out[field.json] = field.absent;
  else if (field.absentStruct !== undefined) out[field.json] = emptyStruct(field.absentStruct);
}

/** True for values that `omitempty` leaves out. */
export function isEmpty(value: JsonValue): boolean {
  switch (typeof value) {
    case 'string':
      return value === '';
    case 'number':
      return value === 0;
    case 'boolean':
      return !value;
    default:
      if (Array.isArray(value)) return value.length === 0;
      for (const _ in value) return false;
      return true;
  }
}

const emptiable: ReadonlySet<GoType['kind']> = new Set<GoType['kind']>([
  'string',
  'bool',
  'int32',
  'int64',
  'float64',
  'bytes',
  'list',
  'map',
]);

class Conformance {
  hasUnknown = false;

  object(struct: GoStruct, value: JsonObject): JsonObject {
    const { fields, slotsByName } = struct;
    // Looking up the given names is cheaper than asking the value for every name there is.
    const given: (JsonValue | undefined)[] = new Array<undefined>(fields.length);
    for (const key in value) {
      const slot = slotsByName.get(key);
      if (slot !== undefined) given[slot] = value[key];
      else if (value[key] !== undefined) this.hasUnknown = true;
    }
    const out: JsonObject = {};
    for (let slot = 0; slot < fields.length; slot++) {
      const field = fields[slot];
      const item = given[slot];
      if (field === undefined) continue;
      if (item === undefined) putAbsent(out, field);
      else this.#field(out, field, item);
    }
    return out;
  }

  #field(out: JsonObject, field: GoField, given: JsonValue): void {
    const type = field.type;
    const value = given === null ? null : this.#value(type, given);
    if (value === null) {
      // A zero time that was given sets the pointer, and is written.
      if (given !== null && type.isPointer) out[field.json] = null;
      else putAbsent(out, field);
    } else if (!field.omitsEmpty || type.isPointer || !emptiable.has(type.kind) || !isEmpty(value)) {
      out[field.json] = value;
    }
  }

  #value(type: GoType, value: JsonValue): JsonValue {
    switch (type.kind) {
      case 'string':
        return expectType(value, 'string');
      case 'struct':
        if (type.struct === undefined || !isObject(value)) throw new Misfit();
        return this.object(type.struct, value);
      case 'list':
        return this.#list(type, value);
      case 'map':
        return this.#map(type, value);
      case 'schemaOrArray':
      case 'schemaOrBool':
      case 'schemaOrStringArray':
        return this.#schemaUnion(type, value);
      default:
        return scalar(type, value);
    }
  }

  #list(type: GoType, value: JsonValue): JsonValue {
    const items = type.items;
    if (items === undefined || !Array.isArray(value)) throw new Misfit();
    // A new list, as the unknown fields of the old one's items may have to be named.
    return value.map((item) => this.#element(items, item));
  }

  #element(type: GoType, value: JsonValue | undefined): JsonValue {
    if (value !== null && value !== undefined) return this.#value(type, value);
    // Inside of lists and maps there are no absent bytes, only empty ones.
    if (type.kind === 'bytes') return '';
    return zeroValue(type) ?? (type.struct === undefined ? null : emptyStruct(type.struct));
  }

  #map(type: GoType, value: JsonValue): JsonValue {
    const values = type.items;
    if (values === undefined || !isObject(value)) throw new Misfit();
    if (values.kind === 'string' && holdsStrings(value)) return value;
    const out: JsonObject = {};
    for (const key in value) setEntry(out, key, this.#element(values, value[key]));
    return out;
  }

  #schemaUnion(type: GoType, value: JsonValue): JsonValue {
    if (type.struct === undefined) throw new Misfit();
    // What is unknown within is dropped without a word, as upstream decodes it apart.
    const apart = new Conformance();
    if (isObject(value)) return apart.object(type.struct, value);
    if (type.kind === 'schemaOrBool') return expectType(value, 'boolean');
    if (!Array.isArray(value) || value.length === 0) return null;
    const items = type.kind === 'schemaOrArray' ? type.struct : undefined;
    return value.map((item) => schemaItem(apart, items, item));
  }
}

function schemaItem(run: Conformance, struct: GoStruct | undefined, item: JsonValue): JsonValue {
  if (struct === undefined) return item === null ? '' : expectType(item, 'string');
  if (item === null) return emptyStruct(struct);
  if (!isObject(item)) throw new Misfit();
  return run.object(struct, item);
}

function holdsStrings(value: JsonObject): boolean {
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
}

function expectType(value: JsonValue, type: 'string' | 'boolean' | 'number'): JsonValue {
  if (typeof value !== type) throw new Misfit();
  return value;
}

/** Reads one scalar or special type; null where Go's value is its zero value written as null. */
function scalar(type: GoType, value: JsonValue): JsonValue {
  switch (type.kind) {
    case 'bool':
      return expectType(value, 'boolean');
    case 'int32':
      return integer(value, 2 ** 31);
    case 'int64':
      return integer(value, 2 ** 63);
    case 'float64':
      return expectType(value, 'number');
    case 'bytes':
      return bytes(value);
    default:
      return special(type, value);
  }
}

function special(type: GoType, value: JsonValue): JsonValue {
  switch (type.kind) {
    case 'time':
      return canonicalTime(text(value));
    case 'microTime':
      return canonicalMicroTime(text(value));
    case 'quantity':
      return quantity(value);
    case 'intOrString':
      return typeof value === 'string' ? value : integer(value, 2 ** 31);
    default:
      return value;
  }
}

function text(value: JsonValue): string {
  if (typeof value !== 'string') throw new Misfit();
  return value;
}

function integer(value: JsonValue, limit: number): number {
  if (!Number.isInteger(value)) throw new Misfit();
  const number = Number(value);
  if (number < -limit || number >= limit) throw new Misfit();
  return number;
}

function quantity(value: JsonValue): string {
  if (typeof value === 'string') return canonicalQuantity(value.trim());
  if (typeof value === 'number') return canonicalQuantity(String(value));
  throw new Misfit();
}

function bytes(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return byteList(value);
  const canonical = canonicalBase64(text(value));
  if (canonical === undefined) throw new Misfit();
  return canonical;
}

/** Go also reads a list of numbers into bytes. */
function byteList(value: readonly JsonValue[]): string {
  let binary = '';
  for (const item of value) {
    const byte = item === null ? 0 : item;
    if (!Number.isInteger(byte) || Number(byte) < 0 || Number(byte) > 255) throw new Misfit();
    binary += String.fromCharCode(Number(byte));
  }
  return btoa(binary);
}
