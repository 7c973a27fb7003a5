import type { JsonSchema } from '@sheaf/api';

/** The largest request, in bytes: nothing in an object can be larger. */
export const maxRequest = 3 * 1024 * 1024;
/** The longest text in a request: without its quotes. */
export const maxText = maxRequest - 2;

/** The most bytes of a text. */
export function textElements(schema: JsonSchema): number {
  switch (schema.format) {
    case 'byte':
      return Math.max(0, schema.maxLength ?? maxText);
    case 'duration':
    case 'date-time':
      return 32;
    case 'date':
      return 12;
    default:
      return plainTextElements(schema);
  }
}

function plainTextElements(schema: JsonSchema): number {
  if (schema.maxLength !== undefined) return Math.max(0, schema.maxLength) * 4;
  if (!schema.enum || schema.enum.length === 0) return maxText;
  return Math.max(
    0,
    ...schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)),
  );
}

/** The most elements of a list whose elements take at least `minSize` bytes. */
export function listElements(schema: JsonSchema, minSize: number): number {
  return Math.max(0, schema.maxItems ?? Math.floor((maxRequest - 2) / (minSize + 1)));
}

/** The most entries of a map whose values take at least `minSize` bytes. */
export function mapElements(schema: JsonSchema, minSize: number): number {
  return Math.max(0, schema.maxProperties ?? Math.floor((maxRequest - 2) / (minSize + 6)));
}
