import type { JsonValue } from '@sheaf/base';
import { countFields, maxJsonDepth } from '../codec/decode-json.ts';
import { WireError } from './wire-reader.ts';

/** The JSON text inside a RawExtension, FieldsV1 or JSON message; null where it is empty. */
export function decodeNested(bytes: Uint8Array): JsonValue {
  if (bytes.length === 0) return null;
  let value: JsonValue;
  try {
    value = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
    ) as JsonValue;
  } catch {
    throw new WireError('raw value is not valid JSON');
  }
  if (countFields(value, maxJsonDepth) < 0) throw new WireError('exceeded max depth');
  return value;
}
