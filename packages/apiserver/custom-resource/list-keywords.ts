import { forbiddenField, required } from '@sheaf/api';
import type { JsonValue } from '@sheaf/base';
import { invalidValue, unsupportedValue } from './field-errors.ts';
import type { KeywordState } from './schema-keywords.ts';
import type { SchemaNode } from './schema-node.ts';

const mapTypes = ['atomic', 'granular'];
const listTypes = ['atomic', 'set', 'map'];

export function validateMapType(node: SchemaNode, state: KeywordState): void {
  if (node.mapType === undefined) return;
  if (node.type !== 'object') {
    addWrongType(node, state, 'must be object if x-kubernetes-map-type is specified');
  }
  if (!mapTypes.includes(node.mapType)) {
    state.errors.push(unsupportedValue(`${state.path}.x-kubernetes-map-type`, node.mapType, mapTypes));
  }
}

function addWrongType(node: SchemaNode, { path, errors }: KeywordState, detail: string): void {
  const field = `${path}.type`;
  errors.push(node.type === '' ? required(field, detail) : invalidValue(field, node.type, detail));
}

/** `x-kubernetes-list-type` and `-list-map-keys`, and what they ask of the items. */
export function validateListKeywords(node: SchemaNode, state: KeywordState): void {
  const { path, errors } = state;
  validateListType(node, state);
  if (node.listMapKeys.length > 0 && node.listType !== 'map') {
    const field = `${path}.x-kubernetes-list-type`;
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(
      node.listType === undefined ? required(field, detail) : invalidValue(field, node.listType, detail),
    );
  }
  if (node.listType === 'map') validateMapList(node, state);
  validateItemNulls(node, state);
}

function validateListType(node: SchemaNode, state: KeywordState): void {
  const { listType } = node;
  if (listType === undefined) return;
  if (node.type !== 'array') {
    addWrongType(node, state, 'must be array if x-kubernetes-list-type is specified');
  } else if (listType === 'set' && node.items !== undefined) {
    validateSetItems(node.items, state);
  }
  if (!listTypes.includes(listType)) {
    state.errors.push(unsupportedValue(`${state.path}.x-kubernetes-list-type`, listType, listTypes));
  }
}

function validateSetItems(items: SchemaNode, { path, errors }: KeywordState): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items.listType ?? null;
  if (items.type === 'array' && listType !== null && listType !== 'atomic') {
    errors.push(invalidValue(`${path}.items.x-kubernetes-list-type`, listType, detail));
  }
  if (items.type === 'object' && items.mapType !== 'atomic') {
    errors.push(invalidValue(`${path}.items.x-kubernetes-map-type`, listType, detail));
  }
}

function validateMapList(node: SchemaNode, { path, errors }: KeywordState): void {
  const { items, listMapKeys } = node;
  if (listMapKeys.length === 0) {
    const detail = 'must not be empty if x-kubernetes-list-type is map';
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, detail));
  }
  if (items === undefined) {
    errors.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
    return;
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalidValue(`${path}.items.type`, items.type, detail));
    return;
  }
  listMapKeys.forEach((key, index) => {
    validateMapKey(node, { path, errors, key, isRepeated: listMapKeys.indexOf(key) < index });
  });
}

interface MapKey extends Pick<KeywordState, 'path' | 'errors'> {
  readonly key: string;
  readonly isRepeated: boolean;
}

function validateMapKey(node: SchemaNode, { path, errors, key, isRepeated }: MapKey): void {
  const keysField = `${path}.x-kubernetes-list-map-keys`;
  const keys: JsonValue = [...node.listMapKeys];
  const property = node.items?.properties.get(key);
  if (property === undefined) {
    errors.push(invalidValue(keysField, keys, 'entries must all be names of item properties'));
  } else if (property.type === 'array' || property.type === 'object') {
    const field = `${path}.items.properties[${key}].type`;
    const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    errors.push(invalidValue(field, node.items?.type, detail));
  }
  if (isRepeated) errors.push(invalidValue(keysField, keys, 'must not contain duplicate entries'));
}

/** Items of sets and maps, and the keys of maps, must always have a value. */
function validateItemNulls(node: SchemaNode, { path, errors }: KeywordState): void {
  const { items, listType } = node;
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return;
  if (items.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbiddenField(`${path}.items.nullable`, detail));
  }
  if (listType === 'map') validateKeyNulls(node, items, { path, errors });
}

function validateKeyNulls(
  node: SchemaNode,
  items: SchemaNode,
  { path, errors }: Pick<KeywordState, 'path' | 'errors'>,
): void {
  for (const key of node.listMapKeys) {
    const property = items.properties.get(key);
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!items.required.includes(key) && property.defaultValue === undefined) {
      errors.push(required(`${field}.default`, `${why} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(forbiddenField(`${field}.nullable`, `${why} cannot be nullable`));
  }
}
