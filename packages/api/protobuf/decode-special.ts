import { canonicalQuantity, type JsonValue, QuantitySyntaxError } from '@sheaf/base';
import type { GoType } from '../builtin/go-type.ts';
import { formatMicroTime, formatTime } from '../codec/go-time.ts';
import type { MessageDecoder } from './decode-message.ts';
import { decodeNested } from './nested.ts';
import { WireError } from './wire-reader.ts';

/** The types whose JSON is not that of their message; the reader stands at the message, which ends at `end`. */
export function decodeSpecial(decoder: MessageDecoder, type: GoType, end: number): JsonValue {
  switch (type.kind) {
    case 'quantity':
      return quantity(decoder, end);
    case 'intOrString':
      return intOrString(decoder, end);
    case 'time':
      return formatTime({ ...timestamp(decoder, end), nanos: 0 });
    case 'microTime':
      return microTime(decoder, end);
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray':
      return union(decoder, type, end);
    default:
      return rawJson(decoder, end);
  }
}

/** Reads each field with `read`, which returns false for those it does not know. */
function eachField(decoder: MessageDecoder, end: number, read: (tag: number) => boolean): void {
  const { reader } = decoder;
  while (reader.position < end) {
    const tag = reader.uint32(end);
    if (!read(tag)) reader.skip(tag & 7, end);
  }
}

function quantity(decoder: MessageDecoder, end: number): JsonValue {
  let text = '0';
  eachField(decoder, end, (tag) => {
    if (tag !== 10) return false;
    text = canonical(decoder.reader.string(end));
    return true;
  });
  return text;
}

function canonical(text: string): string {
  try {
    return canonicalQuantity(text);
  } catch (error) {
    if (error instanceof QuantitySyntaxError) throw new WireError(error.message);
    throw error;
  }
}

function intOrString(decoder: MessageDecoder, end: number): JsonValue {
  let isString = false;
  let number = 0;
  let text = '';
  eachField(decoder, end, (tag) => {
    if (tag === 8) isString = decoder.reader.int64(end) === 1;
    else if (tag === 16) number = decoder.reader.int32(end);
    else if (tag === 26) text = decoder.reader.string(end);
    else return false;
    return true;
  });
  return isString ? text : number;
}

function timestamp(decoder: MessageDecoder, end: number): { seconds: number; nanos: number } {
  // An empty message is Go's zero time.
  if (decoder.reader.position >= end) return { seconds: -62_135_596_800, nanos: 0 };
  let seconds = 0;
  let nanos = 0;
  eachField(decoder, end, (tag) => {
    if (tag === 8) seconds = decoder.reader.int64(end);
    else if (tag === 16) nanos = decoder.reader.int32(end);
    else return false;
    return true;
  });
  if (Math.abs(seconds) > 8_640_000_000_000) throw new WireError('time out of range');
  return { seconds, nanos };
}

function microTime(decoder: MessageDecoder, end: number): JsonValue {
  const { seconds, nanos } = timestamp(decoder, end);
  const carried = Math.floor(nanos / 1e9);
  return formatMicroTime({ seconds: seconds + carried, nanos: nanos - carried * 1e9 });
}

/** FieldsV1, RawExtension and JSON hold their text as bytes. */
function rawJson(decoder: MessageDecoder, end: number): JsonValue {
  let value: JsonValue = null;
  eachField(decoder, end, (tag) => {
    if (tag !== 10) return false;
    value = decodeNested(decoder.reader.bytes(end));
    return true;
  });
  return value;
}

function union(decoder: MessageDecoder, type: GoType, end: number): JsonValue {
  const { reader } = decoder;
  const struct = type.struct;
  let allows = false;
  let schema: JsonValue | undefined;
  const list: JsonValue[] = [];
  const schemaNumber = type.kind === 'schemaOrBool' ? 2 : 1;
  eachField(decoder, end, (tag) => {
    if (struct !== undefined && tag === schemaNumber * 8 + 2)
      schema = decoder.struct(struct, reader.lengthEnd(end));
    else if (type.kind === 'schemaOrBool' && tag === 8) allows = reader.bool(end);
    else if (type.kind === 'schemaOrStringArray' && tag === 18) list.push(reader.string(end));
    else if (type.kind === 'schemaOrArray' && struct !== undefined && tag === 18) {
      list.push(decoder.struct(struct, reader.lengthEnd(end)));
    } else return false;
    return true;
  });
  if (list.length > 0) return list;
  return schema ?? (type.kind === 'schemaOrBool' ? allows : null);
}
