import { isJsonObject, type JsonValue } from '@sheaf/base';
import { goJson, goNumber } from './go-text.ts';
import { type Path, type PathNode, parsePath, type Slice } from './json-path-parser.ts';
import { getField } from './object-fields.ts';

export { JsonPathError } from './json-path-parser.ts';

/** A compiled path. Missing fields yield nothing; what cannot be evaluated (an index beyond a list) yields nothing too. */
export interface JsonPath {
  readonly text: string;
  /** All values at the path, at most `maxResults` of them. */
  findAll(root: JsonValue): readonly JsonValue[];
  /** The first value at the path. */
  findFirst(root: JsonValue): JsonValue | undefined;
}

const maxResults = 10_000;
const maxDepth = 200;

/**
 * Compiles a path in kubectl's JSONPath: `.spec.x`, `['a']`, `[0]`, `[-1:]`, `[*]`, `[0,2]`, `..x`,
 * `[?(@.type=="Ready")].status`. Templates (`{range}`) do not occur in definitions.
 * @throws JsonPathError
 */
export function compileJsonPath(text: string): JsonPath {
  const path = parsePath(text);
  const names = path.flatMap((node) => (node.kind === 'field' ? [node.name] : []));
  if (names.length === path.length) return compilePlain(text, names);
  return {
    text,
    findAll: (root) => find(path, root),
    findFirst: (root) => find(path, root)[0],
  };
}

/** Evaluates a path once. Throws JsonPathError. */
export function evaluateJsonPath(text: string, root: JsonValue): readonly JsonValue[] {
  return compileJsonPath(text).findAll(root);
}

function compilePlain(text: string, names: readonly string[]): JsonPath {
  function findFirst(root: JsonValue): JsonValue | undefined {
    let value: JsonValue | undefined = root;
    for (const name of names) value = isJsonObject(value) ? getField(value, name) : undefined;
    return value;
  }
  return {
    text,
    findFirst,
    findAll(root) {
      const value = findFirst(root);
      return value === undefined ? [] : [value];
    },
  };
}

/** What a path cannot go on from, e.g. an index beyond the list. */
class Unreachable extends Error {}

function find(path: Path, root: JsonValue): readonly JsonValue[] {
  try {
    return walk(path, [root]);
  } catch (error) {
    if (error instanceof Unreachable) return [];
    throw error;
  }
}

function walk(path: Path, start: readonly JsonValue[]): readonly JsonValue[] {
  let values = start;
  for (const node of path) {
    values = step(node, values);
    if (values.length > maxResults) values = values.slice(0, maxResults);
  }
  return values;
}

function step(node: PathNode, values: readonly JsonValue[]): readonly JsonValue[] {
  switch (node.kind) {
    case 'field':
      return fieldsOf(values, node.name);
    case 'wildcard':
      return childrenOf(values);
    case 'recursive':
      return descendants(values);
    case 'slice':
      return values.flatMap((value) => (value === null ? [] : sliceOf(value, node.slice)));
    case 'union':
      return node.branches.flatMap((branch) => walk(branch, values));
    case 'filter':
      return values.flatMap((value) => filterItems(value, node));
    case 'constant':
      return values.map(() => node.value);
    case 'word':
      throw new Unreachable(`unrecognized identifier ${node.word}`);
  }
}

function fieldsOf(values: readonly JsonValue[], name: string): readonly JsonValue[] {
  const found: JsonValue[] = [];
  for (const value of values) {
    const child = isJsonObject(value) ? getField(value, name) : undefined;
    if (child !== undefined) found.push(child);
  }
  return found;
}

function childrenOf(values: readonly JsonValue[]): readonly JsonValue[] {
  const found: JsonValue[] = [];
  for (const value of values) {
    if (found.length > maxResults) break;
    for (const child of Array.isArray(value) ? value : fieldValues(value)) found.push(child);
  }
  return found;
}

function fieldValues(value: JsonValue): readonly JsonValue[] {
  if (!isJsonObject(value)) return [];
  return Object.values(value).filter((child) => child !== undefined);
}

/** All objects and lists that have something in them, at any depth. */
function descendants(values: readonly JsonValue[]): readonly JsonValue[] {
  const found: JsonValue[] = [];
  collect(values, found, 0);
  return found;
}

function collect(values: readonly JsonValue[], found: JsonValue[], depth: number): void {
  if (depth > maxDepth) return;
  for (const value of values) {
    if (found.length > maxResults) return;
    const children = Array.isArray(value) ? value : fieldValues(value);
    if (children.length === 0) continue;
    found.push(value);
    collect(children, found, depth + 1);
  }
}

function sliceOf(value: JsonValue, slice: Slice): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new Unreachable('not a list');
  const { start, end } = boundsOf(slice, value.length);
  if (start === end) return [];
  const isInside = start >= 0 && start < value.length && end <= value.length && start < end;
  const every = slice.step ?? 1;
  if (!isInside || every <= 0) throw new Unreachable('index out of bounds, or no step forward');
  return value.slice(start, end).filter((_item, index) => index % every === 0);
}

function boundsOf(slice: Slice, length: number): { readonly start: number; readonly end: number } {
  const start = fromEnd(slice.start ?? 0, length);
  return { start, end: slice.isIndex ? start + 1 : fromEnd(slice.end ?? length, length) };
}

function fromEnd(index: number, length: number): number {
  return index < 0 ? index + length : index;
}

type Filter = Extract<PathNode, { kind: 'filter' }>;

function filterItems(value: JsonValue, filter: Filter): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new Unreachable('not a list');
  return value.filter((item) => passes(item, filter));
}

function passes(item: JsonValue, { left, operator, right }: Filter): boolean {
  if (operator === 'exists') return find(left, item).length > 0;
  const lefts = walk(left, [item]);
  const rights = walk(right, [item]);
  if (lefts.length > 1 || rights.length > 1) throw new Unreachable('can only compare one element at a time');
  const [a] = lefts;
  const [b] = rights;
  return a !== undefined && b !== undefined && compare(a, operator, b);
}

function compare(a: JsonValue, operator: string, b: JsonValue): boolean {
  if (typeof a !== typeof b || typeof a === 'object' || typeof b === 'object') {
    throw new Unreachable('incompatible types for comparison');
  }
  if (operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  if (a === null || b === null || typeof a === 'boolean') throw new Unreachable('values have no order');
  const isLower = orders.get(operator);
  if (isLower === undefined) throw new Unreachable(`unrecognized filter operator ${operator}`);
  return isLower(a, b);
}

type Scalar = string | number | boolean;

const orders: ReadonlyMap<string, (a: Scalar, b: Scalar) => boolean> = new Map([
  ['<', (a: Scalar, b: Scalar) => a < b],
  ['<=', (a: Scalar, b: Scalar) => a <= b],
  ['>', (a: Scalar, b: Scalar) => a > b],
  ['>=', (a: Scalar, b: Scalar) => a >= b],
]);

/** A value as a text cell shows it: objects and lists as JSON, `null` as the word. */
export function printJsonPathValue(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return goNumber(value);
  if (value === null) return 'null';
  return typeof value === 'object' ? goJson(value) : String(value);
}
