import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { SchemaNode } from './schema-node.ts';

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** True when a value has nothing to drop. Allocates nothing. */
export type CleanTest = (value: JsonValue | undefined) => boolean;

/**
 * Compiles the test whether a value has fields the schema does not know, nulls to be dropped, or embedded resources
 * (which always take the long way). `isRoot` values keep apiVersion, kind and metadata.
 */
export function compileCleanTest(node: SchemaNode, isRoot = false): CleanTest {
  if (node.embeddedResource && !isRoot) return isScalar;
  const onArray = compileCleanArray(node);
  const onObject = compileCleanObject(node, isRoot);
  return (value) => {
    if (typeof value !== 'object' || value === null) return true;
    return Array.isArray(value) ? onArray(value) : onObject(value);
  };
}

function isScalar(value: JsonValue | undefined): boolean {
  return typeof value !== 'object' || value === null;
}

function compileCleanArray(node: SchemaNode): (list: JsonValue[]) => boolean {
  if (node.items === undefined) {
    return node.preserveUnknown === true ? () => true : (list) => list.every(isScalar);
  }
  const items = node.items;
  const itemTest = compileCleanTest(items);
  // The items of a free-form list are not pruned themselves, only what they declare.
  const test = node.preserveUnknown === true && items.preserveUnknown !== true ? isScalar : itemTest;
  return (list) => {
    for (const item of list) if (!test(item)) return false;
    return true;
  };
}

function compileCleanObject(node: SchemaNode, isRoot: boolean): (object: JsonObject) => boolean {
  const fields = new Map([...node.properties].map(([name, property]) => [name, cleanField(property)]));
  if (isRoot) for (const name of metaFields) fields.set(name, () => true);
  const others = cleanOthers(node);
  return (object) => {
    for (const key in object) {
      const test = fields.get(key) ?? others;
      if (test === undefined || !test(object[key])) return false;
    }
    return true;
  };
}

/** The test of fields that are not named; nothing if they are dropped. */
function cleanOthers(node: SchemaNode): CleanTest | undefined {
  if (node.additionalProperties?.schema) return cleanField(node.additionalProperties.schema);
  if (node.additionalProperties !== undefined) return node.preserveUnknown === true ? undefined : isScalar;
  return node.preserveUnknown === true ? () => true : undefined;
}

function cleanField(node: SchemaNode): CleanTest {
  const test = compileCleanTest(node);
  if (node.nullable || node.defaultValue !== undefined) return test;
  return (value) => value !== null && test(value);
}

/** Drops unknown fields in place and adds their paths to `unknown`. At the root of a resource its metadata stays. */
export function pruneUnknown(
  value: JsonValue | undefined,
  node: SchemaNode,
  { unknown, isRoot }: { readonly unknown: string[]; readonly isRoot: boolean },
): void {
  prune(value, node, { path: '', unknown, isRoot });
}

interface PruneState {
  readonly path: string;
  readonly unknown: string[];
  /** At the root apiVersion, kind and metadata stay, as in embedded resources. */
  readonly isRoot: boolean;
}

function prune(value: JsonValue | undefined, node: SchemaNode | undefined, state: PruneState): void {
  if (node?.preserveUnknown === true) return pruneKnown(value, node, state);
  if (Array.isArray(value)) return pruneItems(value, node, state);
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    if (keepsMeta(node, state) && metaFields.has(key)) continue;
    const child = childOf(node, key);
    if (child.isKnown) prune(value[key], child.schema, atKey(state, key));
    else drop(value, key, state);
  }
}

function drop(object: JsonObject, key: string, state: PruneState): void {
  delete object[key];
  if (state.path !== '' || !metaFields.has(key)) state.unknown.push(atKey(state, key).path);
}

function keepsMeta(node: SchemaNode | undefined, state: PruneState): boolean {
  return state.isRoot || node?.embeddedResource === true;
}

function childOf(
  node: SchemaNode | undefined,
  key: string,
): { readonly isKnown: boolean; readonly schema: SchemaNode | undefined } {
  const named = node?.properties.get(key);
  if (named !== undefined) return { isKnown: true, schema: named };
  const others = node?.additionalProperties;
  return { isKnown: others !== undefined, schema: others?.schema };
}

function pruneItems(list: readonly JsonValue[], node: SchemaNode | undefined, state: PruneState): void {
  if (node === undefined) return pruneUntyped(list, state);
  for (let i = 0; i < list.length; i++) {
    if (!isScalar(list[i])) prune(list[i], node.items, atIndex(state, i));
  }
}

/** Lists of unknown type lose the fields of all objects in them. They may be nested deeper than a call stack allows. */
function pruneUntyped(list: readonly JsonValue[], state: PruneState): void {
  const stack: { readonly list: readonly JsonValue[]; readonly state: PruneState }[] = [{ list, state }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    for (const [index, item] of next.list.entries()) {
      if (isScalar(item)) continue;
      const below = atIndex(next.state, index);
      if (Array.isArray(item)) stack.push({ list: item, state: below });
      else prune(item, undefined, below);
    }
  }
}

/** Below `preserve-unknown-fields` everything stays, but what the schema does know is still pruned inside. */
function pruneKnown(value: JsonValue | undefined, node: SchemaNode | undefined, state: PruneState): void {
  if (node === undefined) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) pruneKnown(value[i], node.items, atIndex(state, i));
    return;
  }
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    if (keepsMeta(node, state) && metaFields.has(key)) continue;
    const child = childOf(node, key);
    if (child.isKnown) prune(value[key], child.schema, atKey(state, key));
  }
}

function atKey(state: PruneState, key: string): PruneState {
  const path = state.path === '' ? key : `${state.path}.${key}`;
  return { path, unknown: state.unknown, isRoot: false };
}

function atIndex(state: PruneState, index: number): PruneState {
  return { path: `${state.path}[${index}]`, unknown: state.unknown, isRoot: false };
}

/** Drops fields that are null, may not be, and have no default. Items of lists stay. */
export function pruneNulls(value: JsonValue | undefined, node: SchemaNode | undefined): void {
  if (node === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) pruneNulls(item, node.items);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const child = childOf(node, key).schema;
      if (value[key] === null && isDropped(child)) delete value[key];
      else pruneNulls(value[key], child);
    }
  }
}

function isDropped(node: SchemaNode | undefined): boolean {
  return node !== undefined && !node.nullable && node.defaultValue === undefined;
}
