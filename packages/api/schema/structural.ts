import { objectMetaSchema } from './builtin-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import type { FieldSchema, ListSchema, ObjectSchema, ScalarSchema, TypeSchema } from './type-schema.ts';

const text: ScalarSchema = { type: 'scalar', format: 'string', nullable: false };
const any: TypeSchema = { type: 'any' };

/**
 * The shape of a custom resource, from the structural schema of its version. `metadata` is ObjectMeta at the root and
 * in embedded resources, whatever the schema says of it. Lists are atomic and maps granular unless declared otherwise.
 */
export function compileStructural(schema: JsonSchema): TypeSchema {
  return compileObject({ type: 'object', ...schema }, true);
}

function compile(schema: JsonSchema): TypeSchema {
  if (schema['x-kubernetes-int-or-string'] === true) return scalar(schema, 'int-or-string');
  switch (schema.type) {
    case 'object':
      return compileObject(schema, false);
    case 'array':
      return compileList(schema);
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return scalar(schema, schema.type);
    default:
      return hasShape(schema) ? compileObject(schema, false) : any;
  }
}

/** Without a type (allowed where unknown fields are preserved), named properties are still told apart. */
function hasShape(schema: JsonSchema): boolean {
  return schema.properties !== undefined || schema['x-kubernetes-embedded-resource'] === true;
}

function scalar(schema: JsonSchema, format: ScalarSchema['format']): ScalarSchema {
  return { type: 'scalar', format, nullable: schema.nullable ?? false };
}

function compileObject(schema: JsonSchema, isRoot: boolean): TypeSchema {
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
  const nullable = schema.nullable ?? false;
  const values = schema.additionalProperties;
  if (values !== undefined && values !== false && !isRoot) {
    return { type: 'map', values: values === true ? any : compile(values), isAtomic, nullable };
  }
  const isEmbedded = schema['x-kubernetes-embedded-resource'] ?? false;
  const object: ObjectSchema = {
    type: 'object',
    fields: compileFields(schema, isRoot || isEmbedded),
    preserveUnknown: schema['x-kubernetes-preserve-unknown-fields'] ?? false,
    isAtomic,
    isEmbeddedResource: isEmbedded,
    nullable,
  };
  return object;
}

function compileFields(schema: JsonSchema, isResource: boolean): ReadonlyMap<string, FieldSchema> {
  const fields = new Map<string, FieldSchema>();
  if (isResource) {
    fields.set('apiVersion', plainField(text));
    fields.set('kind', plainField(text));
    fields.set('metadata', plainField(objectMetaSchema()));
  }
  const properties = schema.properties ?? {};
  for (const name in properties) {
    const property = properties[name];
    if (property !== undefined && !fields.has(name)) fields.set(name, plainField(compile(property)));
  }
  return fields;
}

/** Custom resources know no strategic merge. */
function plainField(schema: TypeSchema): FieldSchema {
  return { schema, patchStrategies: [], patchMergeKey: undefined };
}

function compileList(schema: JsonSchema): ListSchema {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return {
    type: 'list',
    items: schema.items === undefined ? any : compile(schema.items),
    listType: schema['x-kubernetes-list-type'] ?? 'atomic',
    mapKeys: keys.map((name) => ({ name, defaultValue: keyDefault(schema.items, name) })),
    nullable: schema.nullable ?? false,
  };
}

function keyDefault(items: JsonSchema | undefined, name: string): string | number | boolean | undefined {
  const properties = items?.properties ?? {};
  const value = Object.hasOwn(properties, name) ? properties[name]?.default : undefined;
  return typeof value === 'object' || value === null ? undefined : value;
}
