import { definitionName } from '../builtin/definition-name.ts';

export interface GoField {
  readonly json: string;
  readonly go: string;
  readonly number?: number;
  readonly type: string;
  readonly inline?: boolean;
  readonly omitEmpty?: boolean;
  readonly omitZero?: boolean;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
}

export interface GoTables {
  readonly structs: Record<string, Record<string, readonly GoField[]>>;
  readonly kinds: Record<string, Record<string, string>>;
}

export interface OpenApiSchema {
  readonly properties?: Record<string, OpenApiSchema>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly allOf?: readonly OpenApiSchema[];
  readonly $ref?: string;
  readonly default?: unknown;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

export type SchemaIndex = Map<string, OpenApiSchema>;

/** Struct names to `[atomic flag, fields]`; the form is described in ../builtin/type-file.ts. */
export function packageTable(key: string, tables: GoTables, schemas: SchemaIndex): Record<string, unknown> {
  const table: Record<string, unknown> = {};
  for (const [name, fields] of Object.entries(tables.structs[key] ?? {})) {
    const schema = schemas.get(definitionName(`${key}.${name}`));
    const isAtomic = schema?.['x-kubernetes-map-type'] === 'atomic';
    table[name] = [isAtomic ? 'atomic' : '', ...fields.map((field) => fieldRow(field, schema, schemas))];
  }
  return table;
}

function fieldRow(field: GoField, schema: OpenApiSchema | undefined, schemas: SchemaIndex): unknown[] {
  const flags = `${field.omitEmpty ? 'e' : ''}${field.omitZero ? 'z' : ''}${field.inline ? 'i' : ''}`;
  const row: unknown[] = [field.json, field.go, field.number ?? 0, field.type, flags];
  const extra = extras(field, schema?.properties?.[field.json], schemas);
  if (Object.keys(extra).length > 0) row.push(extra);
  return row;
}

function extras(
  field: GoField,
  schema: OpenApiSchema = {},
  schemas: SchemaIndex = new Map(),
): Record<string, unknown> {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'];
  const found: Record<string, unknown> = {
    ...patchRules(field, schema),
    list: listType === 'atomic' ? undefined : listType,
    keys: keys?.map((key) => keyDefault(key, itemSchema(schema, schemas))),
    atomic: schema['x-kubernetes-map-type'] === 'atomic' ? true : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function patchRules(field: GoField, schema: OpenApiSchema): Record<string, unknown> {
  return {
    strategy: field.patchStrategy ?? schema['x-kubernetes-patch-strategy'],
    mergeKey: field.patchMergeKey ?? schema['x-kubernetes-patch-merge-key'],
  };
}

function itemSchema(list: OpenApiSchema, schemas: SchemaIndex): OpenApiSchema | undefined {
  const reference = list.items?.$ref ?? list.items?.allOf?.[0]?.$ref ?? '';
  return schemas.get(reference.slice(reference.lastIndexOf('/') + 1));
}

/** Go's zero values are written as defaults of every required scalar; only real defaults count. */
const zeroValues: readonly unknown[] = [undefined, '', 0];

function keyDefault(key: string, item: OpenApiSchema | undefined): unknown[] {
  const property = item?.properties?.[key];
  if (property === undefined) throw new Error(`no key ${key}`);
  return zeroValues.includes(property.default) ? [key] : [key, property.default];
}
