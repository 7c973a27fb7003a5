import type { JsonObject, JsonValue } from '@sheaf/base';
import type { GoField, GoStruct, GoType, ProtoField } from '../builtin/go-type.ts';
import { isEmpty, putAbsent, setEntry } from '../codec/conform.ts';
import { decodeSpecial } from './decode-special.ts';
import { WireError, type WireReader } from './wire-reader.ts';

/** Deeper messages are refused; the deepest real ones are schemas, at some dozens of levels. */
const maxDepth = 250;

export type Slots = (JsonValue | undefined)[];

/** Reads messages of Go structs into the JSON that Go would write of them. */
export class MessageDecoder {
  readonly reader: WireReader;
  #depth = 0;

  constructor(reader: WireReader) {
    this.reader = reader;
  }

  /** The message that begins at the reader's position and ends at `end`. */
  struct(struct: GoStruct, end: number): JsonObject {
    if (++this.#depth > maxDepth) throw new WireError('exceeded max depth');
    const slots: Slots = new Array<undefined>(struct.fields.length);
    this.#fields(struct, { slots, base: 0 }, end);
    this.#depth--;
    return toObject(struct, slots);
  }

  #fields(struct: GoStruct, into: { readonly slots: Slots; readonly base: number }, end: number): void {
    const { reader } = this;
    while (reader.position < end) {
      const tag = reader.uint32(end);
      const field = struct.protoFieldsByNumber[tag >>> 3];
      const wireType = tag & 7;
      if (wireType === 4 || tag >>> 3 === 0) throw illegalTag(struct, tag);
      if (field === undefined) reader.skip(wireType, end);
      else if (field.embedded !== undefined)
        this.#embedded(field.embedded, { ...into, field, wireType }, end);
      else {
        const slot = into.base + field.slot;
        into.slots[slot] = this.#field(field, { wireType, before: into.slots[slot] }, end);
      }
    }
  }

  #embedded(
    struct: GoStruct,
    into: {
      readonly slots: Slots;
      readonly base: number;
      readonly field: ProtoField;
      readonly wireType: number;
    },
    end: number,
  ): void {
    if (into.wireType !== 2) throw wrongWireType(into.wireType, into.field);
    const stop = this.reader.lengthEnd(end);
    this.#fields(struct, { slots: into.slots, base: into.base + into.field.slot }, stop);
  }

  #field(
    field: ProtoField,
    found: { wireType: number; before: JsonValue | undefined },
    end: number,
  ): JsonValue {
    const { type } = field;
    if (type.kind === 'list' && type.items !== undefined && !type.isWrapped) {
      const list = Array.isArray(found.before) ? found.before : [];
      this.#items({ list, items: type.items, field, wireType: found.wireType }, end);
      return list;
    }
    if (found.wireType !== wireTypeOf(type)) throw wrongWireType(found.wireType, field);
    if (type.kind === 'map' && type.items !== undefined) {
      const map = (found.before ?? {}) as JsonObject;
      this.#entry(map, type.items, end);
      return map;
    }
    return this.value(type, end);
  }

  #items(
    into: {
      readonly list: JsonValue[];
      readonly items: GoType;
      readonly field: ProtoField;
      readonly wireType: number;
    },
    end: number,
  ): void {
    const expected = wireTypeOf(into.items);
    if (into.wireType === expected) {
      into.list.push(this.value(into.items, end));
      return;
    }
    if (into.wireType !== 2) throw wrongWireType(into.wireType, into.field);
    // Packed, which Go accepts though it does not write it.
    const stop = this.reader.lengthEnd(end);
    while (this.reader.position < stop) into.list.push(this.value(into.items, stop));
  }

  #entry(map: JsonObject, values: GoType, end: number): void {
    const { reader } = this;
    const stop = reader.lengthEnd(end);
    let key = '';
    let value: JsonValue | undefined;
    while (reader.position < stop) {
      const tag = reader.uint32(stop);
      if (tag === 10) key = reader.string(stop);
      else if (tag >>> 3 === 2 && (tag & 7) === wireTypeOf(values)) value = this.value(values, stop);
      else reader.skip(tag & 7, stop);
    }
    setEntry(map, key, value ?? this.#missingEntry(values));
  }

  #missingEntry(values: GoType): JsonValue {
    if (values.struct !== undefined) return toObject(values.struct, []);
    if (values.kind === 'string' || values.kind === 'bytes') return '';
    return values.kind === 'quantity' ? '0' : null;
  }

  /** One value of a type; for strings and messages its length comes first. */
  value(type: GoType, end: number): JsonValue {
    const { reader } = this;
    switch (type.kind) {
      case 'string':
        return reader.string(end);
      case 'bool':
        return reader.bool(end);
      case 'int32':
        return reader.int32(end);
      case 'int64':
        return reader.int64(end);
      case 'float64':
        return reader.double(end);
      case 'bytes':
        return reader.base64(end);
      default:
        return this.#message(type, reader.lengthEnd(end));
    }
  }

  #message(type: GoType, stop: number): JsonValue {
    if (type.kind === 'struct' && type.struct !== undefined) return this.struct(type.struct, stop);
    if (type.kind === 'list' && type.items !== undefined) return this.#wrapped(type.items, stop);
    return decodeSpecial(this, type, stop);
  }

  #wrapped(items: GoType, stop: number): JsonValue {
    const list: JsonValue[] = [];
    while (this.reader.position < stop) {
      const tag = this.reader.uint32(stop);
      if (tag === 10) list.push(this.value(items, stop));
      else this.reader.skip(tag & 7, stop);
    }
    return list;
  }
}

function wireTypeOf(type: GoType): number {
  switch (type.kind) {
    case 'bool':
    case 'int32':
    case 'int64':
      return 0;
    case 'float64':
      return 1;
    default:
      return 2;
  }
}

function wrongWireType(wireType: number, field: ProtoField): WireError {
  return new WireError(`proto: wrong wireType = ${wireType} for field ${field.number}`);
}

function illegalTag(struct: GoStruct, tag: number): WireError {
  if ((tag & 7) === 4) return new WireError(`proto: ${struct.shortName}: wiretype end group for non-group`);
  return new WireError(`proto: ${struct.shortName}: illegal tag ${tag >>> 3} (wire type ${tag})`);
}

function toObject(struct: GoStruct, slots: Slots): JsonObject {
  const out: JsonObject = {};
  const { fields } = struct;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index];
    if (field === undefined) continue;
    const value = slots[index];
    if (value === undefined) putAbsent(out, field);
    else put(out, field, value);
  }
  return out;
}

function put(out: JsonObject, field: GoField, value: JsonValue): void {
  if (!field.omitsEmpty) out[field.json] = value;
  else if (value === null) putNull(out, field);
  else if (field.type.isPointer || field.type.kind === 'struct' || !isEmpty(value)) out[field.json] = value;
  else putAbsent(out, field);
}

/** Go's zero time behind a pointer, or without `omitzero`, is written as null. */
function putNull(out: JsonObject, field: GoField): void {
  if (field.type.isPointer || field.absent === null) out[field.json] = null;
}
