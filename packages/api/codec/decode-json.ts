import { badRequest, type JsonValue, type StatusError } from '@sheaf/base';
import { JsonScanner, JsonSyntaxError } from './json-scanner.ts';

/**
 * Objects and lists nested deeper are refused. Upstream allows 10 000; here every later step walks values by
 * recursion, and no real object comes near either number.
 */
export const maxJsonDepth = 1000;

export interface DecodedBody {
  readonly value: JsonValue;
  /** Sentences for warnings and strict errors, e.g. `duplicate field "metadata.labels.a"`; the last one wins. */
  readonly duplicateFields: readonly string[];
}

export interface DecodeOptions {
  /** The kind that is expected, for the error's text. */
  readonly kind?: string;
}

const none: readonly string[] = [];

/** Reads a JSON body; invalid UTF-8 is replaced. Throws 400 BadRequest, worded as upstream. */
export function decodeJson(bytes: Uint8Array, options: DecodeOptions = {}): DecodedBody {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  try {
    return decodeText(text, bytes);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unreadable({
      bytes,
      options,
      cause: error,
      reason: `couldn't get version/kind; json parse error: ${error.message}`,
    });
  }
}

/** As `decodeJson`; throws `JsonSyntaxError`. */
export function decodeJsonText(text: string): DecodedBody {
  return decodeText(text, Buffer.from(text));
}

function decodeText(text: string, bytes: Uint8Array): DecodedBody {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    new JsonScanner(text, maxJsonDepth).duplicates();
    throw new JsonSyntaxError(error instanceof Error ? error.message : String(error));
  }
  const fields = countFields(value, maxJsonDepth);
  if (fields < 0) throw new JsonSyntaxError('exceeded max depth');
  const duplicates = holdsFields(bytes, fields) ? none : new JsonScanner(text, maxJsonDepth).duplicates();
  return {
    value: text.includes('\\u') && surrogateEscape.test(text) ? wellFormed(value) : value,
    duplicateFields: duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
  };
}

export interface UnreadableBody {
  readonly bytes: Uint8Array;
  readonly options: DecodeOptions;
  readonly cause: unknown;
  readonly reason: string;
}

/** The error for a body that could not be read at all. */
export function unreadable({ bytes, options, cause, reason }: UnreadableBody): StatusError {
  if (options.kind === undefined) return badRequest(reason, cause);
  const what = `the object provided is unrecognized (must be of type ${options.kind})`;
  return badRequest(`${what}: ${reason} (${summary(bytes)})`, cause);
}

/** The beginning of a body: as text if it is an object's, else in hexadecimal. */
function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 30));
  const shown = bytes[0] === 0x7b ? head.toString('utf8') : head.toString('hex');
  return bytes.length > 30 ? `${shown} ...` : shown;
}

/** All fields of a value and what is in it; negative where it is nested deeper than `depth`. */
export function countFields(value: JsonValue | undefined, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) return Number.NEGATIVE_INFINITY;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countFields(item, depth - 1);
    return count;
  }
  for (const key in value) {
    const inner = value[key];
    count += typeof inner === 'object' ? 1 + countFields(inner, depth - 1) : 1;
  }
  return count;
}

const surrogateEscape = /\\u[dD][89a-fA-F]/;

/**
 * True only where the text surely has no more fields than the parsed value, so that none was given twice. Counts
 * colons after quotes that are not escaped; text in which that could miss a field is left to the scanner.
 */
function holdsFields(text: Uint8Array, fields: number): boolean {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== colon) continue;
    const before = text[at - 1] ?? 0;
    if (before === quote) {
      if (text[at - 2] !== backslash) count++;
      else if (text[at - 3] === backslash) return false;
    } else if (before <= 0x20 && followsQuote(text, at)) {
      return false;
    }
  }
  return count === fields;
}

const colon = 0x3a;
const quote = 0x22;
const backslash = 0x5c;

/** True where only blanks stand between a quote and `at`. */
function followsQuote(text: Uint8Array, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && (text[before] ?? 0) <= 0x20) before--;
  return text[before] === quote;
}

/** Halves of surrogate pairs become replacement characters, as in Go. */
function wellFormed(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value).replace(loneSurrogate, '$1\ufffd')) as JsonValue;
}

/** JSON.stringify escapes only halves, in lower case; an even number of backslashes before is text. */
const loneSurrogate = /((?:^|[^\\])(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;
