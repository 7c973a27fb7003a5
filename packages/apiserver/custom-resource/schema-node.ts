import type { ValidationRule } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { readNumber, readText, readTexts } from './json-reader.ts';

/**
 * A custom resource's schema, read once from its JSON: every keyword has its right type here, whatever the input said.
 * Keywords of the wrong type count as absent; `null` defaults count as absent.
 */
export interface SchemaNode {
  readonly type: string;
  readonly format: string;
  readonly title: string;
  readonly description: string;
  readonly nullable: boolean;
  readonly defaultValue: JsonValue | undefined;
  readonly enumValues: readonly JsonValue[] | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly required: readonly string[];
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly additionalProperties: AdditionalProperties | undefined;
  readonly items: SchemaNode | undefined;
  /** `items` was a list of schemas, which is refused. */
  readonly itemSchemas: readonly SchemaNode[];
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
  readonly preserveUnknown: boolean | undefined;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly rules: readonly ValidationRule[];
  /** Keywords that no structural schema may have: id, $ref, definitions … */
  readonly unsupported: readonly string[];
  /** Where the node was read from. */
  readonly source: JsonObject;
}

export interface AdditionalProperties {
  readonly allows: boolean;
  readonly schema: SchemaNode | undefined;
}

/** Schemas nested deeper are refused; walks over values are bounded by the depth of their schema. */
export const maxSchemaDepth = 250;

/** Thrown by `readSchema` for a schema that is too deep to be walked. */
export class SchemaTooDeep extends Error {
  constructor() {
    super(`schema is nested deeper than ${maxSchemaDepth} levels`);
    this.name = 'SchemaTooDeep';
  }
}

/** Reads a schema. @throws SchemaTooDeep */
export function readSchema(source: unknown, depth = 0): SchemaNode {
  const json = isJsonObject(source) ? source : {};
  if (depth > maxSchemaDepth || isDeep(json['default']) || isDeep(json['enum'])) throw new SchemaTooDeep();
  const below = depth + 1;
  return {
    ...readGenerics(json),
    ...readBounds(json),
    ...readChildren(json, below),
    ...readExtensions(json),
    unsupported: unsupportedKeywords.filter((keyword) => isSet(json[keyword])),
    source: json,
  };
}

/** Whether a value of a schema is nested too deep to be copied and compared. */
function isDeep(value: JsonValue | undefined): boolean {
  let level: readonly (JsonValue | undefined)[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxSchemaDepth) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

const unsupportedKeywords = [
  'id',
  '$schema',
  '$ref',
  'patternProperties',
  'dependencies',
  'additionalItems',
  'definitions',
];

function isSet(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return false;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

function readGenerics(json: JsonObject) {
  return {
    type: readText(json['type']),
    format: readText(json['format']),
    title: readText(json['title']),
    description: readText(json['description']),
    nullable: json['nullable'] === true,
    defaultValue: json['default'] ?? undefined,
    enumValues: Array.isArray(json['enum']) ? json['enum'] : undefined,
    pattern: readText(json['pattern']),
    required: readTexts(json['required']),
    uniqueItems: json['uniqueItems'] === true,
  };
}

function readBounds(json: JsonObject) {
  return {
    minimum: readNumber(json['minimum']),
    maximum: readNumber(json['maximum']),
    exclusiveMinimum: json['exclusiveMinimum'] === true,
    exclusiveMaximum: json['exclusiveMaximum'] === true,
    multipleOf: readNumber(json['multipleOf']),
    minLength: readNumber(json['minLength']),
    maxLength: readNumber(json['maxLength']),
    minItems: readNumber(json['minItems']),
    maxItems: readNumber(json['maxItems']),
    minProperties: readNumber(json['minProperties']),
    maxProperties: readNumber(json['maxProperties']),
  };
}

/** One for all leaves, which are most nodes: a large schema has thousands. */
const noProperties: ReadonlyMap<string, SchemaNode> = new Map();
const noSchemas: readonly SchemaNode[] = [];

function readProperties(named: JsonValue | undefined, depth: number): ReadonlyMap<string, SchemaNode> {
  if (!isJsonObject(named)) return noProperties;
  return new Map(Object.keys(named).map((name) => [name, readSchema(named[name], depth)]));
}

function readChildren(json: JsonObject, depth: number) {
  const items = json['items'];
  return {
    properties: readProperties(json['properties'], depth),
    additionalProperties: readAdditional(json['additionalProperties'], depth),
    items: isJsonObject(items) ? readSchema(items, depth) : undefined,
    itemSchemas: readList(items, depth),
    allOf: readList(json['allOf'], depth),
    anyOf: readList(json['anyOf'], depth),
    oneOf: readList(json['oneOf'], depth),
    not: isJsonObject(json['not']) ? readSchema(json['not'], depth) : undefined,
  };
}

function readAdditional(value: JsonValue | undefined, depth: number): AdditionalProperties | undefined {
  if (typeof value === 'boolean') return { allows: value, schema: undefined };
  return isJsonObject(value) ? { allows: true, schema: readSchema(value, depth) } : undefined;
}

function readList(value: JsonValue | undefined, depth: number): readonly SchemaNode[] {
  return Array.isArray(value) ? value.map((item) => readSchema(item, depth)) : noSchemas;
}

function readExtensions(json: JsonObject) {
  const preserve = json['x-kubernetes-preserve-unknown-fields'];
  const listType = json['x-kubernetes-list-type'];
  const mapType = json['x-kubernetes-map-type'];
  return {
    preserveUnknown: typeof preserve === 'boolean' ? preserve : undefined,
    embeddedResource: json['x-kubernetes-embedded-resource'] === true,
    intOrString: json['x-kubernetes-int-or-string'] === true,
    listType: typeof listType === 'string' ? listType : undefined,
    listMapKeys: readTexts(json['x-kubernetes-list-map-keys']),
    mapType: typeof mapType === 'string' ? mapType : undefined,
    rules: readRules(json['x-kubernetes-validations']),
  };
}

function readRules(value: JsonValue | undefined): readonly ValidationRule[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).map((rule) => ({
    ...(rule as unknown as ValidationRule),
    rule: readText(rule['rule']),
  }));
}
