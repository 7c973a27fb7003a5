import type { FieldError } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonClone, jsonEqual } from '@sheaf/base';
import { compileCheck } from './check.ts';
import { coerceEmbedded, validateEmbedded } from './embedded.ts';
import { explain } from './explain.ts';
import { invalidValue } from './field-errors.ts';
import { MetadataFault } from './object-meta.ts';
import { pruneUnknown } from './prune.ts';
import type { SchemaNode } from './schema-node.ts';

const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

/** Defaults must obey their schema and have no unknown fields. */
export function validateDefaults(root: SchemaNode, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(root, { path, errors, meta: undefined, isRoot: true });
  return errors;
}

/** Where inside the metadata of which resource a schema lies. */
interface MetaPlace {
  readonly resource: SchemaNode;
  /** Builds a resource around a value at this place. */
  surround(value: JsonValue): JsonValue;
}

interface State {
  readonly path: string;
  readonly errors: FieldError[];
  readonly meta: MetaPlace | undefined;
  readonly isRoot: boolean;
}

function visit(node: SchemaNode, state: State): void {
  const isResource = state.isRoot || node.embeddedResource;
  const place: State = isResource ? { ...state, meta: undefined } : state;
  if (node.defaultValue !== undefined) validateDefault(node, node.defaultValue, place);
  if (node.items !== undefined) {
    const meta = inner(place.meta, (value) => [value]);
    visit(node.items, { ...place, path: `${place.path}.items`, meta, isRoot: false });
  }
  for (const [name, property] of node.properties) {
    const isMeta = isResource && metaFields.has(name);
    const outer: MetaPlace | undefined = isMeta ? { resource: node, surround: (value) => value } : place.meta;
    const meta = inner(outer, (value) => ({ [name]: value }));
    visit(property, { ...place, path: `${place.path}.properties[${name}]`, meta, isRoot: false });
  }
}

function inner(meta: MetaPlace | undefined, wrap: (value: JsonValue) => JsonValue): MetaPlace | undefined {
  if (meta === undefined) return undefined;
  return { resource: meta.resource, surround: (value) => meta.surround(wrap(value)) };
}

function validateDefault(node: SchemaNode, value: JsonValue, state: State): void {
  const field = `${state.path}.default`;
  const faults =
    state.meta === undefined
      ? validateResourceParts(node, value, { ...state, path: field })
      : validateMetaDefault(state.meta, value, field);
  state.errors.push(...faults);
  if (faults.some((fault) => !fault.message.endsWith(unknownFields))) return;
  if (compileCheck(node)(value)) return;
  for (const error of explain(node, { value, path: '', old: undefined })) {
    const isWhole = error.field === '<nil>';
    state.errors.push({ ...error, field: isWhole ? field : `${field}.${error.field}` });
  }
}

const unknownFields = 'must not have unknown fields';

function validateResourceParts(node: SchemaNode, value: JsonValue, state: State): readonly FieldError[] {
  const errors: FieldError[] = [];
  const pruned = jsonClone(value);
  const embedding: SchemaNode = state.isRoot ? { ...node, embeddedResource: true } : node;
  pruneUnknown(pruned, embedding, { unknown: [], isRoot: embedding.embeddedResource });
  if (!jsonEqual(pruned, value)) errors.push(invalidValue(state.path, value, unknownFields));
  const fault = coerceFault(value, embedding);
  if (fault !== undefined) return [...errors, invalidValue(state.path, value, fault)];
  return [...errors, ...validateEmbedded(value, embedding, state.path)];
}

function coerceFault(value: JsonValue, node: SchemaNode): string | undefined {
  if (!isJsonObject(value)) return undefined;
  try {
    coerceEmbedded(jsonClone(value), node, { dropInvalid: false, unknown: [] });
    return undefined;
  } catch (error) {
    if (error instanceof MetadataFault) return error.message;
    throw error;
  }
}

function validateMetaDefault(meta: MetaPlace, value: JsonValue, field: string): readonly FieldError[] {
  const surrounded = meta.surround(value);
  const base: JsonObject = { apiVersion: 'validation/v1', kind: 'Validation' };
  const object: JsonObject = isJsonObject(surrounded) ? { ...base, ...surrounded } : base;
  const resource: SchemaNode = { ...meta.resource, embeddedResource: true };
  const fault = coerceFault(object, resource);
  if (fault !== undefined) {
    return [invalidValue(field, value, `must result in valid metadata: ${fault}`)];
  }
  const errors = validateEmbedded(object, resource);
  if (errors.length === 0) return [];
  const texts = errors.map((error) => `${error.field}: ${error.message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return [invalidValue(field, value, `must result in valid metadata: ${list}`)];
}
