import type { JsonSchema, KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonClone } from '@sheaf/base';
import { type Definition, type DefinitionVersion, findVersion, readDefinition } from './definition.ts';
import { setField } from './object-fields.ts';
import { findUnreadable } from './schema-keywords.ts';
import { readSchema, SchemaTooDeep } from './schema-node.ts';
import { validateStructural } from './structural-rules.ts';

/** Component schemas by their name, e.g. `com.example.v1.Widget`. */
export interface PublishedSchemas {
  /** For `components.schemas` of OpenAPI v3. */
  readonly v3: Readonly<Record<string, JsonSchema>>;
  /** For `definitions` of Swagger 2, without what that cannot say. */
  readonly v2: Readonly<Record<string, JsonSchema>>;
}

type Dialect = 'v2' | 'v3';

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const prefixes: Readonly<Record<Dialect, string>> = { v2: '#/definitions/', v3: '#/components/schemas/' };

const rootTypeMeta = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
};
const embeddedTypeMeta = {
  apiVersion: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
  kind: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
};

/** The schemas of a version's kind and of its list, as they are published. Nothing for a version that does not exist. */
export function openApiSchemas(crd: KubeObject, versionName: string): PublishedSchemas {
  const definition = readDefinition(crd);
  const version = findVersion(definition, versionName);
  if (version === undefined) return { v3: {}, v2: {} };
  const source = publishableSchema(version);
  return {
    v3: publish(definition, version, { source, dialect: 'v3' }),
    v2: publish(definition, version, { source, dialect: 'v2' }),
  };
}

/** The name of a kind's component, with the group's labels in reverse. */
export function componentName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

/** A schema that is not structural is not published. */
function publishableSchema(version: DefinitionVersion): JsonObject | undefined {
  if (version.schema === undefined) return undefined;
  try {
    const root = readSchema(version.schema);
    if (findUnreadable(root) !== undefined || validateStructural(root, '').length > 0) return undefined;
    return root.source;
  } catch (error) {
    if (error instanceof SchemaTooDeep) return undefined;
    throw error;
  }
}

interface Publication {
  readonly source: JsonObject | undefined;
  readonly dialect: Dialect;
}

function publish(
  definition: Definition,
  version: DefinitionVersion,
  { source, dialect }: Publication,
): Record<string, JsonSchema> {
  const { group, names } = definition;
  const name = componentName(group, version.name, names.kind);
  const kind = publishKind(source, dialect);
  const list = listSchema({
    plural: names.plural,
    kind: names.kind,
    listKind: names.listKind,
    name,
    dialect,
  });
  addExtensions(kind, { definition, version, kind: names.kind });
  addExtensions(list, { definition, version, kind: names.listKind });
  return {
    [name]: kind,
    [componentName(group, version.name, names.listKind)]: list,
  };
}

function publishKind(source: JsonObject | undefined, dialect: Dialect): JsonObject {
  const isFree = source?.['x-kubernetes-preserve-unknown-fields'] === true && dialect === 'v2';
  if (source === undefined || isFree) return { type: 'object' };
  const schema = dialect === 'v3' ? publishV3(source) : publishV2(source);
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  schema['properties'] = properties;
  addResourceFields(properties, rootTypeMeta, dialect);
  return schema;
}

interface ExtensionSubject {
  readonly definition: Definition;
  readonly version: DefinitionVersion;
  readonly kind: string;
}

function addExtensions(schema: JsonObject, { definition, version, kind }: ExtensionSubject): void {
  const { group } = definition;
  schema['x-kubernetes-group-version-kind'] = [{ group, kind, version: version.name }];
  if (version.selectableFields.length === 0) return;
  schema['x-kubernetes-selectable-fields'] = version.selectableFields.map((path) => ({
    fieldPath: path.replace(/^\./, ''),
  }));
}

interface ListSubject {
  readonly plural: string;
  readonly kind: string;
  readonly listKind: string;
  readonly name: string;
  readonly dialect: Dialect;
}

function listSchema({ plural, kind, listKind, name, dialect }: ListSubject): JsonObject {
  return {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { description: rootTypeMeta.apiVersion, type: 'string' },
      items: {
        description: `List of ${plural}. More info: ${conventions}`,
        type: 'array',
        items: { $ref: prefixes[dialect] + name },
      },
      kind: { description: rootTypeMeta.kind, type: 'string' },
      metadata: reference(
        'ListMeta',
        `Standard list metadata. More info: ${conventions}#types-kinds`,
        dialect,
      ),
    },
  };
}

/** A described reference: beside `$ref` OpenAPI v3 ignores everything, so it goes into an allOf. */
function reference(type: string, description: string, dialect: Dialect): JsonObject {
  const target = { $ref: `${prefixes[dialect]}${metaPackage}.${type}` };
  return dialect === 'v2' ? { description, ...target } : { description, allOf: [target] };
}

function addResourceFields(
  properties: JsonObject,
  descriptions: { readonly apiVersion: string; readonly kind: string },
  dialect: Dialect,
): void {
  properties['apiVersion'] = { description: descriptions.apiVersion, type: 'string' };
  properties['kind'] = { description: descriptions.kind, type: 'string' };
  const description = `Standard object's metadata. More info: ${conventions}#metadata`;
  properties['metadata'] = reference('ObjectMeta', description, dialect);
}

function embed(schema: JsonObject, dialect: Dialect): void {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  schema['properties'] = properties;
  addResourceFields(properties, embeddedTypeMeta, dialect);
  const required: JsonValue[] = Array.isArray(schema['required']) ? [...schema['required']] : [];
  for (const name of ['kind', 'apiVersion']) if (!required.includes(name)) required.push(name);
  schema['required'] = required;
}

const plainKeywords = [
  'description',
  'type',
  'format',
  'title',
  'nullable',
  'default',
  'enum',
  'example',
  'externalDocs',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
];
const keptWhenEmpty: ReadonlySet<string> = new Set(['default', 'example']);

function copyKeywords(source: JsonObject): JsonObject {
  const schema: JsonObject = {};
  for (const keyword of plainKeywords) {
    const value = source[keyword];
    if (value === undefined || value === null) continue;
    if (isEmpty(value) && !keptWhenEmpty.has(keyword)) continue;
    schema[keyword] = jsonClone(value);
  }
  return schema;
}

function isEmpty(value: JsonValue): boolean {
  return value === '' || value === false || (Array.isArray(value) && value.length === 0);
}

/** Copies what lies below a schema, each part through `copy`. */
function copyChildren(source: JsonObject, target: JsonObject, copy: (child: JsonObject) => JsonObject): void {
  const properties = mapFields(source['properties'], copy);
  if (properties !== undefined) target['properties'] = properties;
  if (isJsonObject(source['items'])) target['items'] = copy(source['items']);
  const others = source['additionalProperties'];
  if (typeof others === 'boolean') target['additionalProperties'] = others;
  else if (isJsonObject(others)) target['additionalProperties'] = copy(others);
}

function mapFields(
  value: JsonValue | undefined,
  copy: (child: JsonObject) => JsonObject,
): JsonObject | undefined {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return undefined;
  const result: JsonObject = {};
  for (const name of Object.keys(value)) {
    const child = value[name];
    setField(result, name, copy(isJsonObject(child) ? child : {}));
  }
  return result;
}

const intOrString: readonly JsonObject[] = [{ type: 'integer' }, { type: 'string' }];

function publishV3(source: JsonObject): JsonObject {
  const schema = copyKeywords(source);
  copyChildren(source, schema, publishV3);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const branches = source[keyword];
    if (Array.isArray(branches) && branches.length > 0) schema[keyword] = jsonClone(branches);
  }
  if (isJsonObject(source['not'])) schema['not'] = jsonClone(source['not']);
  if (source['x-kubernetes-int-or-string'] === true) unfoldIntOrString(schema);
  if (source['x-kubernetes-embedded-resource'] === true) embed(schema, 'v3');
  return schema;
}

/** Says in plain schema terms what `x-kubernetes-int-or-string` means, unless the schema does already. */
function unfoldIntOrString(schema: JsonObject): void {
  const { anyOf, allOf } = schema;
  const first = Array.isArray(allOf) ? allOf[0] : undefined;
  if (isIntOrString(anyOf) || (isJsonObject(first) && isIntOrString(first['anyOf']))) return;
  const types = intOrString.map((branch) => ({ ...branch }));
  if (anyOf === undefined) schema['anyOf'] = types;
  else schema['allOf'] = [{ anyOf: types }, ...(Array.isArray(allOf) ? allOf : [])];
}

function isIntOrString(branches: JsonValue | undefined): boolean {
  return JSON.stringify(branches) === JSON.stringify(intOrString);
}

/** Drops what Swagger 2, or kubectl's reading of it, cannot cope with. */
function publishV2(source: JsonObject): JsonObject {
  const schema = copyKeywords(source);
  copyChildren(source, schema, publishV2);
  const isNullable = source['nullable'] === true;
  const isFree = source['x-kubernetes-preserve-unknown-fields'] === true;
  delete schema['nullable'];
  if (isNullable) delete schema['type'];
  if (isNullable || isFree) {
    delete schema['items'];
    delete schema['properties'];
  }
  if (schema['type'] === 'array' && schema['items'] === undefined) delete schema['type'];
  if (schema['type'] === 'object' && isFree) delete schema['type'];
  dropNullableRequired(source, schema);
  if (source['x-kubernetes-embedded-resource'] === true && !isFree) embed(schema, 'v2');
  return schema;
}

/** Fields that may be null cannot be required of clients that do not know null. */
function dropNullableRequired(source: JsonObject, schema: JsonObject): void {
  const others = source['additionalProperties'];
  if (isJsonObject(others) && others['nullable'] === true) delete schema['required'];
  if (!Array.isArray(schema['required']) || schema['properties'] === undefined) return;
  const properties = isJsonObject(source['properties']) ? source['properties'] : {};
  const kept = schema['required'].filter((name) => {
    const property = typeof name === 'string' ? properties[name] : undefined;
    return !(isJsonObject(property) && property['nullable'] === true);
  });
  if (kept.length > 0) schema['required'] = kept;
  else delete schema['required'];
}
