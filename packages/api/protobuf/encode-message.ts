import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { GoStruct, GoType, ProtoField } from '../builtin/go-type.ts';
import { type GoTime, parseRfc3339 } from '../codec/go-time.ts';
import type { WireWriter } from './wire-writer.ts';

/** The object does not have the shape of its kind; a fault of the program, as objects are conformed before. */
export class ShapeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ShapeError';
  }
}

/**
 * Writes the message of a struct as Go does: numbers, strings, booleans and embedded structs always, pointers, lists,
 * maps and bytes where present. Fields go backwards, so the first is written last.
 */
export function encodeStruct(writer: WireWriter, struct: GoStruct, value: JsonObject): void {
  const fields = struct.protoFields;
  for (let index = fields.length - 1; index >= 0; index--) {
    const field = fields[index];
    if (field === undefined) continue;
    if (field.embedded === undefined) encodeField(writer, field, value[field.json]);
    else {
      // Its fields lie flat among those of the struct around it.
      const start = writer.mark;
      encodeStruct(writer, field.embedded, value);
      closeMessage(writer, field.number, start);
    }
  }
}

/** Prefixes what was written since `start` with its length and tag. */
function closeMessage(writer: WireWriter, number: number, start: number): void {
  writer.varint(writer.mark - start);
  writer.tag(number, 2);
}

function encodeField(writer: WireWriter, field: ProtoField, value: JsonValue | undefined): void {
  const { type, number } = field;
  if (value === undefined || value === null) {
    if (!isLeftOut(type)) encodeZero(writer, type, number);
  } else if (type.kind === 'list' && !type.isWrapped) {
    encodeList(writer, field, value);
  } else if (type.kind === 'map') {
    encodeMap(writer, field, value);
  } else {
    encodeValue(writer, type, { number, value });
  }
}

function isLeftOut(type: GoType): boolean {
  return type.isPointer || type.kind === 'list' || type.kind === 'map' || type.kind === 'bytes';
}

function encodeZero(writer: WireWriter, type: GoType, number: number): void {
  switch (type.kind) {
    case 'string':
      return encodeValue(writer, type, { number, value: '' });
    case 'bool':
      return encodeValue(writer, type, { number, value: false });
    case 'int32':
    case 'int64':
    case 'float64':
      return encodeValue(writer, type, { number, value: 0 });
    case 'struct':
      return encodeValue(writer, type, { number, value: {} });
    default:
      return encodeValue(writer, type, { number, value: null });
  }
}

function encodeList(writer: WireWriter, { type, number }: ProtoField, value: JsonValue): void {
  if (!Array.isArray(value) || type.items === undefined)
    throw new ShapeError(`list expected for ${type.goName}`);
  for (let index = value.length - 1; index >= 0; index--) {
    encodeValue(writer, type.items, { number, value: value[index] ?? null });
  }
}

function encodeMap(writer: WireWriter, { type, number }: ProtoField, value: JsonValue): void {
  if (!isJsonObject(value) || type.items === undefined)
    throw new ShapeError(`map expected for ${type.goName}`);
  const keys = Object.keys(value);
  if (keys.length > 1) keys.sort(byBytes);
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? '';
    const start = writer.mark;
    encodeValue(writer, type.items, { number: 2, value: value[key] ?? null });
    writer.string(key);
    writer.tag(1, 2);
    closeMessage(writer, number, start);
  }
}

/** Go sorts by bytes; code units differ from it only where surrogates meet other characters above them. */
function byBytes(a: string, b: string): number {
  return a < b ? -1 : 1;
}

interface Tagged {
  readonly number: number;
  readonly value: JsonValue;
}

/** One value with its tag. */
function encodeValue(writer: WireWriter, type: GoType, { number, value }: Tagged): void {
  switch (type.kind) {
    case 'string':
      if (typeof value !== 'string') throw new ShapeError(`string expected for ${type.goName}`);
      writer.string(value);
      return writer.tag(number, 2);
    case 'bool':
      writer.varint(value === true ? 1 : 0);
      return writer.tag(number, 0);
    case 'int32':
    case 'int64':
      writer.varint(numberOf(type, value));
      return writer.tag(number, 0);
    case 'float64':
      writer.double(numberOf(type, value));
      return writer.tag(number, 1);
    case 'bytes':
      writer.base64(typeof value === 'string' ? value : '');
      return writer.tag(number, 2);
    default:
      return encodeMessage(writer, type, { number, value });
  }
}

function numberOf(type: GoType, value: JsonValue): number {
  if (typeof value !== 'number') throw new ShapeError(`number expected for ${type.goName}`);
  return value;
}

function encodeMessage(writer: WireWriter, type: GoType, { number, value }: Tagged): void {
  const start = writer.mark;
  if (type.kind === 'struct' && type.struct !== undefined) {
    if (value !== null && !isJsonObject(value)) throw new ShapeError(`object expected for ${type.goName}`);
    encodeStruct(writer, type.struct, value ?? {});
  } else if (type.kind === 'list') {
    encodeWrapped(writer, type, value);
  } else {
    encodeSpecial(writer, type, value);
  }
  closeMessage(writer, number, start);
}

function encodeWrapped(writer: WireWriter, type: GoType, value: JsonValue): void {
  if (value === null || type.items === undefined) return;
  if (!Array.isArray(value)) throw new ShapeError(`list expected for ${type.goName}`);
  for (let index = value.length - 1; index >= 0; index--) {
    encodeValue(writer, type.items, { number: 1, value: value[index] ?? null });
  }
}

/** The messages of types whose JSON is another; without tag and length. */
function encodeSpecial(writer: WireWriter, type: GoType, value: JsonValue): void {
  switch (type.kind) {
    case 'quantity':
      writer.string(typeof value === 'string' ? value : '0');
      return writer.tag(1, 2);
    case 'intOrString':
      return encodeIntOrString(writer, value);
    case 'time':
    case 'microTime':
      return encodeTime(writer, type, value);
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray':
      return encodeUnion(writer, type, value);
    default:
      if (value === null) return;
      writer.bytes(Buffer.from(JSON.stringify(value)));
      return writer.tag(1, 2);
  }
}

function encodeIntOrString(writer: WireWriter, value: JsonValue): void {
  writer.string(typeof value === 'string' ? value : '');
  writer.tag(3, 2);
  writer.varint(typeof value === 'number' ? value : 0);
  writer.tag(2, 0);
  writer.varint(typeof value === 'string' ? 1 : 0);
  writer.tag(1, 0);
}

function encodeTime(writer: WireWriter, type: GoType, value: JsonValue): void {
  if (typeof value !== 'string') return;
  const time = timeOf(value);
  writer.varint(type.kind === 'microTime' ? time.nanos : 0);
  writer.tag(2, 0);
  writer.varint(time.seconds);
  writer.tag(1, 0);
}

function timeOf(text: string): GoTime {
  // Canonical seconds, by far the most frequent, are read by the runtime.
  if (text.length === 20) {
    const milliseconds = Date.parse(text);
    if (!Number.isNaN(milliseconds)) return { seconds: milliseconds / 1000, nanos: 0 };
  }
  return parseRfc3339(text);
}

function encodeUnion(writer: WireWriter, type: GoType, value: JsonValue): void {
  const struct = type.struct;
  if (struct === undefined || value === null) return;
  const schemaNumber = type.kind === 'schemaOrBool' ? 2 : 1;
  if (isJsonObject(value)) encodeSchema(writer, { struct, number: schemaNumber }, value);
  else if (Array.isArray(value)) encodeItems(writer, struct, value);
  if (type.kind === 'schemaOrBool') {
    writer.varint(value === false ? 0 : 1);
    writer.tag(1, 0);
  }
}

function encodeItems(writer: WireWriter, struct: GoStruct, items: readonly JsonValue[]): void {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] ?? null;
    if (typeof item === 'string') {
      writer.string(item);
      writer.tag(2, 2);
    } else {
      encodeSchema(writer, { struct, number: 2 }, item);
    }
  }
}

function encodeSchema(
  writer: WireWriter,
  { struct, number }: { readonly struct: GoStruct; readonly number: number },
  value: JsonValue,
): void {
  if (!isJsonObject(value)) throw new ShapeError('schema expected');
  const start = writer.mark;
  encodeStruct(writer, struct, value);
  closeMessage(writer, number, start);
}
