import { isJsonObject, type JsonValue } from '@sheaf/base';

/** Values in error messages are spelled as the reference implementation's language spells them. */

const maxShownLength = 64 * 1024;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const shortEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** A double-quoted Go string literal (`%q`): unprintable characters are escaped. */
export function goQuote(text: string): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += quoteCharacter(character);
  return `${quoted}"`;
}

function quoteCharacter(character: string): string {
  const escape = shortEscapes[character];
  if (escape !== undefined) return escape;
  if (printable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** A number as Go prints it with `%v`: integers plainly, others as floats. */
export function goNumber(value: number): string {
  return isInteger(value) ? BigInt(value).toString() : goFloat(value);
}

/** A 64-bit float as Go prints it with `%v`: with an exponent below 1e-4 and from 1e6 on. */
export function goFloat(value: number): string {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e6) ? exponent(value) : String(value);
}

function exponent(value: number): string {
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

const htmlEscapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON with sorted keys and HTML characters escaped. Values nested deeper than `maxDepth` levels print as `…`. */
export function goJson(value: JsonValue | undefined, maxDepth = 200): string {
  if (typeof value === 'string') return goJsonString(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (maxDepth === 0) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => goJson(item, maxDepth - 1)).join(',')}]`;
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) parts.push(`${goJsonString(key)}:${goJson(value[key], maxDepth - 1)}`);
  }
  return `{${parts.join(',')}}`;
}

function goJsonString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => htmlEscapes[character] ?? character,
  );
}

/** A value as a field error shows it; very large ones are cut. */
export function showValue(value: JsonValue | undefined): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  if (typeof value === 'boolean') return String(value);
  const text = goJson(value);
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}

/** The JSON type of a value, integers apart from other numbers. */
export function jsonTypeOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  if (typeof value === 'number') return isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Whether a number counts as an integer: whole, and within 64 bits. */
export function isInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -0x8000000000000000 && value <= 0x8000000000000000;
}
