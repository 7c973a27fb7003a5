import { badRequest, type JsonValue, toError } from '@sheaf/base';
import type * as yaml from 'yaml';
import type { Document, Pair, Scalar, ScalarTag } from 'yaml';
import { requireLazily } from '../builtin/data-file.ts';
import {
  countFields,
  type DecodedBody,
  type DecodeOptions,
  decodeJsonText,
  maxJsonDepth,
  unreadable,
} from './decode-json.ts';
import { JsonSyntaxError } from './json-scanner.ts';

/** The reader is large, and most servers never see YAML. */
function reader(): typeof yaml {
  return requireLazily<typeof yaml>('yaml');
}

/** Larger YAML bodies are refused: reading takes a second per megabyte, during which nothing else is served. */
export const maxYamlBytes = 1024 * 1024;

/** Types of YAML 1.1 that Go's reader leaves as text, or reads otherwise. */
const unwantedTags: ReadonlySet<string> = new Set([
  'tag:yaml.org,2002:timestamp',
  'tag:yaml.org,2002:binary',
  'tag:yaml.org,2002:omap',
  'tag:yaml.org,2002:pairs',
  'tag:yaml.org,2002:set',
]);

const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7_]+$/,
  resolve: (text) => Number(text.replace(/[_+-]/g, '')) * (text.startsWith('-') ? -1 : 1),
};

const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve: (text) => Buffer.from(text, 'base64').toString('utf8'),
};

/**
 * Reads the first document of a YAML body by the rules of Go's YAML 1.1 reader: `yes`, `no`, `on` and `off` are
 * booleans, `0777` is octal, keys become strings. JSON, which clients often send as YAML, is read as JSON. Throws 400
 * BadRequest.
 */
export function decodeYaml(bytes: Uint8Array, options: DecodeOptions = {}): DecodedBody {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (/^\s*\{/.test(text.slice(0, 256))) {
    const json = tryJson(text);
    if (json !== undefined) return json;
  }
  if (bytes.length > maxYamlBytes) {
    throw badRequest(`YAML bodies may not be larger than ${maxYamlBytes} bytes; use JSON`);
  }
  try {
    return readDocument(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unreadable({ bytes, options, cause: error, reason: error.message });
  }
}

function tryJson(text: string): DecodedBody | undefined {
  try {
    return decodeJsonText(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function readDocument(text: string): DecodedBody {
  try {
    const document = reader().parseDocument(text, {
      version: '1.1',
      merge: true,
      uniqueKeys: false,
      logLevel: 'silent',
      customTags: (tags) => [
        ...tags.filter((tag) => typeof tag === 'string' || !isUnwanted(tag)),
        octal,
        binary,
      ],
    });
    const fault = document.errors.find((error) => error.code !== 'MULTIPLE_DOCS');
    if (fault !== undefined) throw new JsonSyntaxError(`yaml: ${firstLine(fault.message)}`);
    if (!text.endsWith('\n')) trimLastBlock(document, text.length);
    return { value: plain(document), duplicateFields: duplicateKeys(document, text) };
  } catch (error) {
    // The reader recurses, and throws ReferenceError for too many aliases.
    if (error instanceof RangeError) throw new JsonSyntaxError('yaml: exceeded max depth');
    if (error instanceof JsonSyntaxError) throw error;
    if (error instanceof ReferenceError)
      throw new JsonSyntaxError('yaml: document contains excessive aliasing');
    throw new JsonSyntaxError(`yaml: ${toError(error).message}`);
  }
}

function isUnwanted(tag: { readonly tag: string; readonly format?: string }): boolean {
  return unwantedTags.has(tag.tag) || tag.format === 'TIME';
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}

function plain(document: Document): JsonValue {
  const value = document.toJS({ maxAliasCount: 100, mapAsMap: false }) as JsonValue | undefined;
  if (countFields(value, maxJsonDepth) < 0) throw new JsonSyntaxError('yaml: exceeded max depth');
  return value === undefined ? null : toJson(value);
}

/** What the reader makes of its own (sets of merged keys, shared parts) becomes plain JSON. */
function toJson(value: JsonValue): JsonValue {
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === 'number' && !Number.isFinite(item))
      throw new JsonSyntaxError(`json: unsupported value: ${goNumber(item)}`);
    return typeof item === 'bigint' ? Number(item) : item;
  });
  return JSON.parse(text) as JsonValue;
}

function goNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/** A block scalar that ends with the text and without a line break has none in its value. */
function trimLastBlock(document: Document, end: number): void {
  reader().visit(document, {
    Scalar(_key, node) {
      const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
      if (!isBlock || typeof node.value !== 'string' || (node.range?.[1] ?? 0) < end) return;
      node.value = node.value.replace(/\n$/, '');
    },
  });
}

/** One sentence as Go's reader words it, as upstream does not name paths here. */
function duplicateKeys(document: Document, text: string): readonly string[] {
  const { isAlias, isCollection, isMap, isPair } = reader();
  const lines: string[] = [];
  const stack: unknown[] = [document.contents];
  while (stack.length > 0 && lines.length < 100) {
    const node = stack.pop();
    if (isPair(node)) stack.push(node.value);
    else if (isCollection(node) && !isAlias(node)) {
      if (isMap(node)) lines.push(...repeated(node.items, text));
      stack.push(...[...node.items].reverse());
    }
  }
  return lines.length === 0 ? [] : [`yaml: unmarshal errors:\n${lines.join('\n')}`];
}

function repeated(items: readonly Pair[], text: string): string[] {
  const { isScalar } = reader();
  const seen = new Set<unknown>();
  const lines: string[] = [];
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value))
      lines.push(`  line ${lineOf(key, text)}: key ${JSON.stringify(key.value)} already set in map`);
    seen.add(key.value);
  }
  return lines;
}

function lineOf(key: Scalar, text: string): number {
  const offset = key.range?.[0] ?? 0;
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
