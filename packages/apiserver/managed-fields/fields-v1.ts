import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import {
  compareElements,
  FieldsFormatError,
  type PathElement,
  readElement,
  sortElements,
} from './field-path.ts';
import { emptySet, type FieldSet, joinNodes, leaf } from './field-set.ts';

const maxDepth = 500;

/**
 * Reads a `fieldsV1` value. A canonical one is answered as it is; another order or spelling is put right; elements of unknown kinds are
 * dropped. Throws {@link FieldsFormatError}. Writing a set needs nothing: it is its own FieldsV1.
 */
export function parseFieldsV1(json: JsonValue | undefined): FieldSet {
  if (json === undefined || json === null) return emptySet;
  if (isJsonObject(json) && canonical.has(json)) return json as unknown as FieldSet;
  const set = parseNode(json, 0);
  if (set['.'] === undefined) return remember(set);
  const { '.': _, ...children } = set;
  return remember(children);
}

/** Sets read before: a live object is read with each write to it. */
const canonical = new WeakSet<object>();

function remember(set: FieldSet): FieldSet {
  canonical.add(set);
  return set;
}

/** Reads a node; the very same value when it is canonical. A node in which nothing is left is a member. */
function parseNode(json: JsonValue, depth: number): FieldSet {
  if (!isJsonObject(json)) throw new FieldsFormatError('fields must be a JSON object');
  if (depth > maxDepth) throw new FieldsFormatError('fields are nested too deeply');
  let previous: PathElement | undefined;
  for (const key in json) {
    if (!isCanonical(key, previous) || parseChild(json, key, depth) !== json[key]) {
      return rewriteNode(json, depth);
    }
    previous = key;
  }
  // Only when `.` is the last key of a canonical node is it the only one.
  if (previous === '.') return leaf;
  return json as unknown as FieldSet;
}

function parseChild(json: JsonObject, key: PathElement, depth: number): FieldSet {
  if (key !== '.') return parseNode(json[key] ?? null, depth + 1);
  return hasNoKeys(json[key]) ? (json[key] as unknown as FieldSet) : leaf;
}

function hasNoKeys(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

function isCanonical(key: PathElement, previous: PathElement | undefined): boolean {
  if (!isKnownKind(key)) return false;
  const isField = key === '.' || key.charCodeAt(0) === 0x66;
  if (!isField && readElement(key).canonical !== key) return false;
  return previous === undefined || compareElements(previous, key) < 0;
}

function isKnownKind(key: PathElement): boolean {
  if (key.charCodeAt(1) !== 0x3a) return key === '.';
  const kind = key.charCodeAt(0);
  return kind === 0x66 || kind === 0x6b || kind === 0x76 || kind === 0x69;
}

function rewriteNode(json: JsonObject, depth: number): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const key in json) {
    if (isKnownKind(key)) addChild(children, key, parseChild(json, key, depth));
    else if (key.charCodeAt(1) !== 0x3a) throw new FieldsFormatError(`missing colon: ${key}`);
  }
  if (children.size === 0 || (children.size === 1 && children.has('.'))) return leaf;
  const node: Record<PathElement, FieldSet> = {};
  for (const key of sortElements([...children.keys()])) node[key] = children.get(key) ?? leaf;
  return node;
}

/** Two spellings of one element may meet. */
function addChild(children: Map<PathElement, FieldSet>, key: PathElement, child: FieldSet): void {
  const element = canonicalElement(key);
  const known = children.get(element);
  children.set(element, known === undefined ? child : joinNodes(known, child));
}

function canonicalElement(key: PathElement): PathElement {
  return key === '.' || key.charCodeAt(0) === 0x66 ? key : readElement(key).canonical;
}
