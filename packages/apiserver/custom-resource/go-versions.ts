import { isJsonObject, type JsonObject, type JsonValue, setField } from '@sheaf/base';
import { type DefinitionVersion, isShared } from './definition.ts';
import { readObject, readObjects } from './json-reader.ts';
import { readSchema, SchemaTooDeep } from './schema-node.ts';

/**
 * Versions as the reference implementation shows them in errors: as its own structs, in their order, with every field.
 * What all versions say alike is shown by none.
 */
export function goVersions(versions: readonly DefinitionVersion[]): readonly JsonObject[] {
  const own = (field: string): boolean => !isShared(versions, field);
  const [schema, subresources] = [own('schema'), own('subresources')];
  const [columns, fields] = [own('additionalPrinterColumns'), own('selectableFields')];
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: schema ? goValidation(version) : null,
    Subresources: subresources ? goSubresources(version) : null,
    AdditionalPrinterColumns: columns ? goColumns(version) : null,
    SelectableFields: fields
      ? listOrNull(version.selectableFields.map((path) => ({ JSONPath: path })))
      : null,
  }));
}

function goSubresources({ source, hasStatus, scale }: DefinitionVersion): JsonValue {
  if (readObject(source['subresources']) === undefined) return null;
  const shown = scale && {
    SpecReplicasPath: scale.specReplicasPath,
    StatusReplicasPath: scale.statusReplicasPath,
    LabelSelectorPath: scale.labelSelectorPath ?? null,
  };
  return { Status: hasStatus ? {} : null, Scale: shown ?? null };
}

function goColumns({ columns }: DefinitionVersion): JsonValue {
  return listOrNull(
    columns.map(({ name, type, format, description, priority, jsonPath }) => ({
      Name: name,
      Type: type,
      Format: format,
      Description: description,
      Priority: priority,
      JSONPath: jsonPath,
    })),
  );
}

function goValidation({ schema }: DefinitionVersion): JsonValue {
  if (schema === undefined) return null;
  try {
    readSchema(schema);
  } catch (error) {
    // Refused for that by another error, which says so.
    if (error instanceof SchemaTooDeep) return null;
    throw error;
  }
  return { OpenAPIV3Schema: goSchema(schema as JsonObject) };
}

type Show = (value: JsonValue | undefined) => JsonValue;

const text: Show = (value) => value ?? '';
const flag: Show = (value) => value ?? false;
const pointer: Show = (value) => value ?? null;
const schemaPointer: Show = (value) => (isJsonObject(value) ? goSchema(value) : null);
const schemaList: Show = (value) => listOrNull(readObjects(value).map(goSchema));
const schemaMap: Show = (value) => (isJsonObject(value) ? mapValues(value, schemaPointer) : null);

/** Every field of a schema, in the order in which it is shown. */
const schemaFields: readonly (readonly [shown: string, keyword: string, show: Show])[] = [
  ['ID', 'id', text],
  ['Schema', '$schema', text],
  ['Ref', '$ref', pointer],
  ['Description', 'description', text],
  ['Type', 'type', text],
  ['Nullable', 'nullable', flag],
  ['Format', 'format', text],
  ['Title', 'title', text],
  ['Default', 'default', pointer],
  ['Maximum', 'maximum', pointer],
  ['ExclusiveMaximum', 'exclusiveMaximum', flag],
  ['Minimum', 'minimum', pointer],
  ['ExclusiveMinimum', 'exclusiveMinimum', flag],
  ['MaxLength', 'maxLength', pointer],
  ['MinLength', 'minLength', pointer],
  ['Pattern', 'pattern', text],
  ['MaxItems', 'maxItems', pointer],
  ['MinItems', 'minItems', pointer],
  ['UniqueItems', 'uniqueItems', flag],
  ['MultipleOf', 'multipleOf', pointer],
  ['Enum', 'enum', pointer],
  ['MaxProperties', 'maxProperties', pointer],
  ['MinProperties', 'minProperties', pointer],
  ['Required', 'required', pointer],
  ['Items', 'items', goItems],
  ['AllOf', 'allOf', schemaList],
  ['OneOf', 'oneOf', schemaList],
  ['AnyOf', 'anyOf', schemaList],
  ['Not', 'not', schemaPointer],
  ['Properties', 'properties', schemaMap],
  ['AdditionalProperties', 'additionalProperties', goSchemaOrBool],
  ['PatternProperties', 'patternProperties', schemaMap],
  ['Dependencies', 'dependencies', (value) => (isJsonObject(value) ? mapValues(value, goDependency) : null)],
  ['AdditionalItems', 'additionalItems', goSchemaOrBool],
  ['Definitions', 'definitions', schemaMap],
  ['ExternalDocs', 'externalDocs', goDocumentation],
  ['Example', 'example', pointer],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', pointer],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', flag],
  ['XIntOrString', 'x-kubernetes-int-or-string', flag],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', pointer],
  ['XListType', 'x-kubernetes-list-type', pointer],
  ['XMapType', 'x-kubernetes-map-type', pointer],
  ['XValidations', 'x-kubernetes-validations', (value) => listOrNull(readObjects(value).map(goRule))],
];

function goSchema(schema: JsonObject): JsonObject {
  return Object.fromEntries(schemaFields.map(([shown, keyword, show]) => [shown, show(schema[keyword])]));
}

function goItems(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return { Schema: null, JSONSchemas: schemaList(value) };
  return isJsonObject(value) ? { Schema: goSchema(value), JSONSchemas: null } : null;
}

function goSchemaOrBool(value: JsonValue | undefined): JsonValue {
  if (typeof value === 'boolean') return { Allows: value, Schema: null };
  return isJsonObject(value) ? { Allows: true, Schema: goSchema(value) } : null;
}

function goDependency(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return { Schema: null, Property: value };
  return { Schema: schemaPointer(value), Property: null };
}

function goDocumentation(value: JsonValue | undefined): JsonValue {
  return isJsonObject(value) ? { Description: text(value['description']), URL: text(value['url']) } : null;
}

function goRule(rule: JsonObject): JsonObject {
  return {
    Rule: text(rule['rule']),
    Message: text(rule['message']),
    MessageExpression: text(rule['messageExpression']),
    Reason: pointer(rule['reason']),
    FieldPath: text(rule['fieldPath']),
    OptionalOldSelf: pointer(rule['optionalOldSelf']),
  };
}

/** In the order of keys, as maps are written there. */
function mapValues(map: JsonObject, show: Show): JsonObject {
  const shown: JsonObject = {};
  for (const key of Object.keys(map).sort()) setField(shown, key, show(map[key]));
  return shown;
}

function listOrNull(items: JsonObject[]): JsonValue {
  return items.length === 0 ? null : items;
}
