import { type FieldError, forbiddenField, required } from '@sheaf/api';
import { isJsonObject, type JsonValue } from '@sheaf/base';
import { invalidValue } from './field-errors.ts';
import { patternFault } from './pattern.ts';
import type { SchemaNode } from './schema-node.ts';
import { validateCompleteness } from './structural-completeness.ts';

type Level = 'root' | 'item' | 'field';

/**
 * The rules that make a schema structural: a type at every level, nothing but value checks inside allOf, anyOf, oneOf
 * and not, and no say over metadata. Errors are sorted by their text. `readSchema` must have found nothing unsupported.
 */
export function validateStructural(node: SchemaNode, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  validateInvariants(node, { level: 'root', path, errors });
  validateCompleteness(node, path, errors);
  const texts = new Map(errors.map((error) => [error, `${error.field}: ${error.message}`]));
  return errors.sort((a, b) => ((texts.get(a) ?? '') < (texts.get(b) ?? '') ? -1 : 1));
}

interface Place {
  readonly level: Level;
  readonly path: string;
  readonly errors: FieldError[];
}

function at(place: Place, suffix: string, level: Level = place.level): Place {
  return { level, path: `${place.path}.${suffix}`, errors: place.errors };
}

function validateInvariants(node: SchemaNode, place: Place): void {
  const { path, errors } = place;
  if (node.type === 'array' && node.items === undefined) {
    errors.push(required(`${path}.items`, 'must be specified'));
  }
  if (node.items !== undefined) validateInvariants(node.items, at(place, 'items', 'item'));
  for (const [name, property] of node.properties) {
    validateInvariants(property, at(place, `properties[${name}]`, 'field'));
  }
  validateAdditional(node, place);
  validateExtensions(node, place);
  validateJunctors(node, place, intOrStringPattern(node));
  validateType(node, place);
  validateTypeMeta(node, place);
  if (node.embeddedResource && node.preserveUnknown !== true && node.properties.size === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, detail));
  }
}

function validateAdditional(node: SchemaNode, place: Place): void {
  if (node.additionalProperties === undefined) return;
  const field = `${place.path}.additionalProperties`;
  if (place.level === 'root') place.errors.push(forbiddenField(field, 'must not be used at the root'));
  if (node.embeddedResource) {
    place.errors.push(forbiddenField(field, 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  const { schema } = node.additionalProperties;
  if (schema !== undefined) validateInvariants(schema, at(place, 'additionalProperties', 'field'));
}

function validateExtensions(node: SchemaNode, { path, errors }: Place): void {
  const detail = 'must be false if x-kubernetes-int-or-string is true';
  if (!node.intOrString) return;
  if (node.preserveUnknown === true) {
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, true, detail));
  }
  if (node.embeddedResource) {
    errors.push(invalidValue(`${path}.x-kubernetes-embedded-resource`, true, detail));
  }
}

const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function validateType(node: SchemaNode, { level, path, errors }: Place): void {
  const field = `${path}.type`;
  if (node.embeddedResource && node.type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(node.type === '' ? required(field, detail) : invalidValue(field, node.type, detail));
  } else if (node.type === '' && !node.intOrString && node.preserveUnknown !== true) {
    errors.push(required(field, missingType[level]));
  }
  if (level === 'root' && node.type !== '' && node.type !== 'object') {
    errors.push(invalidValue(field, node.type, 'must be object at the root'));
  }
}

function validateTypeMeta(node: SchemaNode, place: Place): void {
  const isResource = place.level === 'root' || node.embeddedResource;
  if (isResource) {
    validateTextProperty(node, 'kind', place);
    validateTextProperty(node, 'apiVersion', place);
  }
  const metadata = node.properties.get('metadata');
  if (metadata !== undefined) validateMetadata(metadata, isResource, place);
}

function validateTextProperty(node: SchemaNode, name: string, { path, errors }: Place): void {
  const property = node.properties.get(name);
  if (property === undefined || property.type === 'string') return;
  errors.push(invalidValue(`${path}.properties[${name}].type`, property.type, 'must be string'));
}

function validateMetadata(metadata: SchemaNode, isResource: boolean, place: Place): void {
  const field = `${place.path}.properties[metadata]`;
  if (isResource && metadata.type !== 'object') {
    place.errors.push(invalidValue(`${field}.type`, metadata.type, 'must be object'));
  }
  if (place.level === 'root' && !restrictsNamesOnly(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    place.errors.push(forbiddenField(field, detail));
  }
}

function restrictsNamesOnly(metadata: SchemaNode): boolean {
  for (const key of Object.keys(metadata.source)) {
    if (key === 'type' || key === 'default' || isEmptyValue(metadata.source[key])) continue;
    if (key !== 'properties') return false;
    for (const name of metadata.properties.keys()) {
      if (name !== 'name' && name !== 'generateName') return false;
    }
  }
  return true;
}

function isEmptyValue(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** Which `anyOf` is the customary spelling of int-or-string and may name types: the node's own, or its first allOf's. */
type IntOrStringPattern = 'own' | 'first-all-of' | 'none' | 'both';

function intOrStringPattern(node: SchemaNode): IntOrStringPattern {
  const own = isIntOrString(node.anyOf);
  const first = node.allOf[0] !== undefined && isIntOrString(node.allOf[0].anyOf);
  if (own) return first ? 'both' : 'own';
  return first ? 'first-all-of' : 'none';
}

function isIntOrString(branches: readonly SchemaNode[]): boolean {
  return (
    branches.length === 2 &&
    branches.every((branch, index) => {
      const keys = Object.keys(branch.source);
      return keys.length === 1 && branch.type === (index === 0 ? 'integer' : 'string');
    })
  );
}

/** Value checks of a node: what is nested in its junctors, and its pattern. */
function validateJunctors(node: SchemaNode, place: Place, pattern: IntOrStringPattern = 'none'): void {
  if (pattern !== 'own' && pattern !== 'both') validateBranches(node.anyOf, 'anyOf', place);
  node.allOf.forEach((branch, index) => {
    const isException = index === 0 && (pattern === 'first-all-of' || pattern === 'both');
    validateNested(branch, at(place, `allOf[${index}]`), isException ? 'own' : 'none');
  });
  validateBranches(node.oneOf, 'oneOf', place);
  if (node.not !== undefined) validateNested(node.not, at(place, 'not'));
  if (node.pattern === '') return;
  const fault = patternFault(node.pattern);
  if (fault === undefined) return;
  const detail = `must be a valid regular expression, but isn't: ${fault}`;
  place.errors.push(invalidValue(`${place.path}.pattern`, node.pattern, detail));
}

function validateBranches(branches: readonly SchemaNode[], name: string, place: Place): void {
  branches.forEach((branch, index) => {
    validateNested(branch, at(place, `${name}[${index}]`));
  });
}

/** A schema under a junctor, which may only check values. */
function validateNested(node: SchemaNode, place: Place, pattern: IntOrStringPattern = 'none'): void {
  validateJunctors(node, place, pattern);
  if (node.items !== undefined) validateNested(node.items, at(place, 'items'));
  for (const [name, property] of node.properties) {
    validateNested(property, at(place, `properties[${name}]`, 'field'));
  }
  for (const [keyword, isUsed, detail] of forbiddenInJunctors) {
    if (isUsed(node)) place.errors.push(forbiddenField(`${place.path}.${keyword}`, detail));
  }
}

const forbiddenInJunctors: readonly (readonly [string, (node: SchemaNode) => boolean, string])[] = [
  ['type', (node) => node.type !== '', 'must be empty to be structural'],
  [
    'additionalProperties',
    (node) => node.additionalProperties?.allows === true,
    'must be undefined to be structural',
  ],
  ['default', (node) => node.defaultValue !== undefined, 'must be undefined to be structural'],
  ['title', (node) => node.title !== '', 'must be empty to be structural'],
  ['description', (node) => node.description !== '', 'must be empty to be structural'],
  ['nullable', (node) => node.nullable, 'must be false to be structural'],
  [
    'x-kubernetes-preserve-unknown-fields',
    (node) => node.preserveUnknown === true,
    'must be false to be structural',
  ],
  ['x-kubernetes-embedded-resource', (node) => node.embeddedResource, 'must be false to be structural'],
  ['x-kubernetes-int-or-string', (node) => node.intOrString, 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', (node) => node.listMapKeys.length > 0, 'must be empty to be structural'],
  ['x-kubernetes-list-type', (node) => node.listType !== undefined, 'must be undefined to be structural'],
  ['x-kubernetes-map-type', (node) => node.mapType !== undefined, 'must be undefined to be structural'],
  ['x-kubernetes-validations', (node) => node.rules.length > 0, 'must be empty to be structural'],
  [
    'properties[metadata]',
    (node) => node.properties.has('metadata'),
    'must not be specified in a nested context',
  ],
];
