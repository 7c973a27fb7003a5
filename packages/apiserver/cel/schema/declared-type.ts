import type { JsonSchema } from '@sheaf/api';
import { isJsonObject, type JsonValue } from '@sheaf/base';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  timestampType,
} from '../checker/type.ts';
import { failure } from '../values/failure.ts';
import { parseDate, parseDuration, parseTimestamp } from '../values/time.ts';
import type { Value } from '../values/value.ts';
import { escapeName } from './escape.ts';
import {
  type Adapter,
  type FieldAdapter,
  JsonList,
  JsonMap,
  JsonRecord,
  KeyedList,
  SetList,
} from './json-value.ts';
import * as size from './sizes.ts';

/** A schema as CEL sees it. */
export interface DeclaredType {
  readonly type: CelType;
  /** Reads JSON of this schema. */
  readonly adapt: Adapter;
  /** The fewest bytes a value takes in JSON. */
  readonly minSize: number;
  /** The most elements of a list or map, or bytes of a text; `undefined` where it has no size. */
  readonly maxElements: number | undefined;
  readonly element?: DeclaredType;
  /** By escaped name. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/**
 * The type of a schema; `undefined` if rules cannot see it: no type (unknown fields preserved), or a list or map of
 * such. `isResource`: the root of a custom resource or an embedded one, which always has kind, apiVersion and
 * metadata.name and generateName.
 */
export function declareType(schema: JsonSchema, isResource: boolean): DeclaredType | undefined {
  const declared = declareBare(schema, isResource);
  if (!declared) return undefined;
  return { ...declared, adapt: nullGuard(declared.adapt, schema.nullable === true) };
}

function nullGuard(adapt: Adapter, isNullable: boolean): Adapter {
  return (json) => {
    if (json !== null) return adapt(json);
    if (isNullable) return null;
    throw failure('invalid data, got null for schema with nullable=false');
  };
}

function declareBare(schema: JsonSchema, isResource: boolean): DeclaredType | undefined {
  if (schema['x-kubernetes-int-or-string']) return declareIntOrString(schema);
  switch (isResource ? 'object' : schema.type) {
    case 'array':
      return declareList(schema);
    case 'object':
      return declareObject(schema, isResource);
    case 'string':
      return declareText(schema);
    case 'boolean':
      return { type: boolType, adapt: adaptBoolean, minSize: 4, maxElements: undefined };
    case 'number':
      return { type: doubleType, adapt: adaptNumber, minSize: 1, maxElements: undefined };
    case 'integer':
      return { type: intType, adapt: adaptInteger, minSize: 1, maxElements: undefined };
    default:
      return undefined;
  }
}

function mismatch(expected: string, json: JsonValue): Error {
  const kind = Array.isArray(json) ? 'array' : typeof json;
  return failure(`invalid data, expected ${expected}, got ${kind}`);
}

function adaptBoolean(json: JsonValue): Value {
  if (typeof json === 'boolean') return json;
  throw mismatch('bool', json);
}

function adaptNumber(json: JsonValue): Value {
  if (typeof json === 'number') return json;
  throw mismatch('float', json);
}

function adaptInteger(json: JsonValue): Value {
  if (typeof json === 'number' && Number.isInteger(json)) return BigInt.asIntN(64, BigInt(json));
  throw mismatch('int', json);
}

function declareIntOrString(schema: JsonSchema): DeclaredType {
  const maxElements = schema.maxLength === undefined ? size.maxText : schema.maxLength * 4;
  return { type: dynType, adapt: adaptIntOrString, minSize: 1, maxElements };
}

function adaptIntOrString(json: JsonValue): Value {
  if (typeof json === 'string') return json;
  if (typeof json === 'number' && Number.isInteger(json)) return BigInt(json);
  throw failure('invalid data, expected XIntOrString value to be either a string or integer');
}

function declareText(schema: JsonSchema): DeclaredType {
  const { type, read, minSize } = textFormats[schema.format ?? ''] ?? plainText;
  const adapt: Adapter = (json) => {
    if (typeof json !== 'string') throw mismatch('string', json);
    return read(json);
  };
  return { type, adapt, minSize, maxElements: size.textElements(schema) };
}

interface TextFormat {
  readonly type: CelType;
  readonly read: (text: string) => Value;
  readonly minSize: number;
}

const plainText: TextFormat = { type: stringType, read: (text) => text, minSize: 2 };

const textFormats: Readonly<Record<string, TextFormat>> = {
  byte: { type: bytesType, read: readBase64, minSize: 2 },
  duration: {
    type: durationType,
    read: (text) => parseDuration(text) ?? unreadable(`Invalid duration ${text}`),
    minSize: 3,
  },
  date: {
    type: timestampType,
    read: (text) => parseDate(text) ?? unreadable(`Invalid date formatted string ${text}`),
    minSize: 12,
  },
  'date-time': {
    type: timestampType,
    read: (text) => parseTimestamp(text) ?? unreadable(`Invalid date-time formatted string ${text}`),
    minSize: 21,
  },
};

function unreadable(message: string): never {
  throw failure(message);
}

function readBase64(text: string): Value {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw failure(`Invalid byte formatted string ${text}`);
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function declareList(schema: JsonSchema): DeclaredType | undefined {
  const element =
    schema.items && declareType(schema.items, schema.items['x-kubernetes-embedded-resource'] === true);
  if (!element) return undefined;
  const adapt: Adapter = (json) => {
    if (!Array.isArray(json))
      throw failure('invalid data, expected an array for the provided schema with type=array');
    return makeList(schema, json, element.adapt);
  };
  const maxElements = size.listElements(schema, element.minSize);
  return { type: listOf(element.type), adapt, minSize: 2, maxElements, element };
}

function makeList(schema: JsonSchema, json: readonly JsonValue[], adapt: Adapter): Value {
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return new KeyedList(json, adapt, schema['x-kubernetes-list-map-keys'] ?? []);
    case 'set':
      return new SetList(json, adapt);
    default:
      return new JsonList(json, adapt);
  }
}

function declareObject(schema: JsonSchema, isResource: boolean): DeclaredType | undefined {
  const { additionalProperties } = schema;
  if (!isResource && typeof additionalProperties === 'object')
    return declareMap(schema, additionalProperties);
  return declareRecord(schema, isResource);
}

function declareMap(schema: JsonSchema, values: JsonSchema): DeclaredType | undefined {
  const element = declareType(values, values['x-kubernetes-embedded-resource'] === true);
  if (!element) return undefined;
  const adapt: Adapter = (json) => {
    if (!isJsonObject(json))
      throw failure('invalid data, expected a map for the provided schema with type=object');
    return new JsonMap(json, element.adapt);
  };
  const maxElements = size.mapElements(schema, element.minSize);
  return { type: mapOf(stringType, element.type), adapt, minSize: 2, maxElements, element };
}

const text: JsonSchema = { type: 'string' };
const resourceProperties: Readonly<Record<string, JsonSchema>> = {
  kind: text,
  apiVersion: text,
  metadata: { type: 'object', properties: { name: text, generateName: text } },
};

/** The properties a rule can see; a resource's own metadata may only restrict the name. */
function propertiesOf(schema: JsonSchema, isResource: boolean): Readonly<Record<string, JsonSchema>> {
  return isResource ? { ...schema.properties, ...resourceProperties } : (schema.properties ?? {});
}

function declareRecord(schema: JsonSchema, isResource: boolean): DeclaredType {
  const types = new Map<string, CelType>();
  const fields = new Map<string, DeclaredType>();
  const adapters = new Map<string, FieldAdapter>();
  const required = new Set(schema.required);
  let minSize = 2;
  for (const [name, property] of Object.entries(propertiesOf(schema, isResource))) {
    const declared = declareType(property, property['x-kubernetes-embedded-resource'] === true);
    if (!declared) continue;
    if (required.has(name) && property.default === undefined) minSize += name.length + declared.minSize + 4;
    const escaped = escapeName(name);
    if (escaped === undefined) continue;
    types.set(escaped, declared.type);
    fields.set(escaped, declared);
    adapters.set(escaped, { name, adapt: declared.adapt });
    if (escaped !== `__${name}__`) continue;
    // Keywords can also be written as they are.
    types.set(name, declared.type);
    adapters.set(name, { name, adapt: declared.adapt, isAlias: true });
  }
  const adapt: Adapter = (json) => {
    if (!isJsonObject(json))
      throw failure('invalid data, expected a map for the provided schema with type=object');
    return new JsonRecord(json, adapters);
  };
  return { type: objectType('object', types), adapt, minSize, maxElements: undefined, fields };
}
