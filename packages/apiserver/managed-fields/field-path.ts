import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@sheaf/base';

/**
 * One step of a field path, as FieldsV1 spells it: `f:<name>` a field, `k:{…}` the item of a map list, `v:<json>` the item of a set,
 * `i:<n>` the item of an atomic list. Equal steps are equal strings.
 */
export type PathElement = string;

/** A path from the root of an object. */
export type FieldPath = readonly PathElement[];

/** A FieldsV1 key or structure that cannot be read. */
export class FieldsFormatError extends Error {
  override readonly name = 'FieldsFormatError';
}

/** `{"` … `"}` text may not look alike in two servers: the characters that Go escapes and JavaScript does not. */
const escapedByGo = /[<>&\u2028\u2029\b\f]/;
const goEscapes = /[<>&\u2028\u2029]|\\b|\\f|\\\\/g;

/** A JSON string as upstream writes it in path elements. */
export function quote(text: string): string {
  const quoted = JSON.stringify(text);
  return escapedByGo.test(text) ? quoted.replace(goEscapes, escapeLikeGo) : quoted;
}

function escapeLikeGo(match: string): string {
  if (match === '\\\\') return match;
  const code = match === '\\b' ? 8 : match === '\\f' ? 12 : match.charCodeAt(0);
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Any JSON value as upstream writes it in path elements: no spaces, fields in order. */
export function elementText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(elementText).join(',')}]`;
  const fields = Object.keys(value).sort(compareText);
  return `{${fields.map((name) => `${quote(name)}:${elementText(value[name])}`).join(',')}}`;
}

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** Orders text by its UTF-8 bytes, as Go does. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return codeRank(left) - codeRank(right);
  }
  return a.length - b.length;
}

/** Surrogates, halves of characters beyond U+FFFF, sort after every other code unit. */
function codeRank(code: number): number {
  return code >= 0xd800 && code <= 0xdfff ? code + 0x10000 : code;
}

const fieldKind = 0x66;
const keyKind = 0x6b;

/** The canonical order of FieldsV1: `.`, then fields, keys, values and indices. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  // Nearly all elements are fields.
  if (a.charCodeAt(0) === fieldKind && b.charCodeAt(0) === fieldKind) return compareText(a, b);
  return compareOpened(openElement(a), openElement(b));
}

/** Sorts in place, in canonical order, reading each element once. */
export function sortElements(elements: PathElement[]): PathElement[] {
  if (elements.length < 2) return elements;
  if (elements.every((element) => element.charCodeAt(0) === fieldKind)) return elements.sort(compareText);
  return elements
    .map(openElement)
    .sort(compareOpened)
    .map(({ element }) => element);
}

interface OpenedElement {
  readonly element: PathElement;
  readonly kind: number;
  readonly value: JsonValue;
}

function openElement(element: PathElement): OpenedElement {
  const kind = element.charCodeAt(0);
  const value = kind === fieldKind || element === '.' ? null : readElement(element).value;
  return { element, kind, value };
}

function compareOpened(a: OpenedElement, b: OpenedElement): number {
  const rank = kindRank(a.kind) - kindRank(b.kind);
  if (rank !== 0) return rank;
  if (a.kind === fieldKind) return compareText(a.element, b.element);
  return a.kind === keyKind
    ? compareKeys(a.value as JsonObject, b.value as JsonObject)
    : compareValues(a.value, b.value);
}

/** '.', 'f', 'k', 'v', 'i' */
function kindRank(code: number): number {
  if (code === fieldKind) return 1;
  if (code === keyKind) return 2;
  if (code === 0x76) return 3;
  return code === 0x2e ? 0 : 4;
}

function compareKeys(a: JsonObject, b: JsonObject): number {
  const left = Object.keys(a).sort(compareText);
  const right = Object.keys(b).sort(compareText);
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [name = '', other = ''] = [left[index], right[index]];
    const order = compareText(name, other) || compareValues(a[name], b[other]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers, strings, booleans, lists, maps, null: in this order. */
function compareValues(a: JsonValue | undefined, b: JsonValue | undefined): number {
  const rank = valueRank(a) - valueRank(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string') return compareText(a, b as string);
  if (typeof a === 'number' || typeof a === 'boolean') return Number(a) - Number(b);
  return compareText(elementText(a), elementText(b));
}

function valueRank(value: JsonValue | undefined): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (value === null || value === undefined) return 5;
  return Array.isArray(value) ? 3 : 4;
}

interface ReadElement {
  readonly canonical: PathElement;
  readonly value: JsonValue;
}

/** What was read lately: the same few keys and set items come back with every write. */
const lately = new Map<PathElement, ReadElement>();
const latelyLimit = 4096;

/** The value inside a `k:`, `v:` or `i:` element and the element's canonical text. Throws {@link FieldsFormatError}. */
export function readElement(element: PathElement): ReadElement {
  const known = lately.get(element);
  if (known !== undefined) return known;
  const read = parseElement(element);
  if (lately.size >= latelyLimit) lately.clear();
  if (element.length <= 256) lately.set(element, read);
  return read;
}

function parseElement(element: PathElement): ReadElement {
  const text = element.slice(2);
  if (element.startsWith('i:')) {
    if (!/^[+-]?[0-9]{1,15}$/.test(text)) throw new FieldsFormatError(`invalid index: ${element}`);
    return { canonical: `i:${Number(text)}`, value: Number(text) };
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new FieldsFormatError(`invalid path element: ${element}`, { cause });
  }
  const scalars = element.startsWith('k:') ? keyFields(value) : [value];
  if (scalars === undefined || scalars.some((scalar) => typeof scalar === 'object' && scalar !== null)) {
    throw new FieldsFormatError(`invalid path element: ${element}`);
  }
  return { canonical: `${element.slice(0, 2)}${elementText(value)}`, value };
}

function keyFields(value: JsonValue): (JsonValue | undefined)[] | undefined {
  return isJsonObject(value) ? Object.values(value) : undefined;
}

/** A path as messages and conflict causes print it: `.spec.containers[name="app"].image`. */
export function printPath(path: FieldPath): string {
  return path.map(printElement).join('');
}

export function printElement(element: PathElement): string {
  if (element.startsWith('f:')) return `.${element.slice(2)}`;
  const { value } = readElement(element);
  if (element.startsWith('i:')) return `[${printValue(value)}]`;
  if (element.startsWith('v:')) return `[=${printValue(value)}]`;
  const fields = value as JsonObject;
  const names = Object.keys(fields).sort(compareText);
  return `[${names.map((name) => `${name}=${printValue(ownField(fields, name) ?? null)}`).join(',')}]`;
}

function printValue(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? elementText(value) : JSON.stringify(value);
}
