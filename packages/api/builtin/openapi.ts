import type { JsonSchema } from '../schema/json-schema.ts';
import { readDataFile } from './data-file.ts';
import { definitionName, packageOfDefinition } from './definition-name.ts';
import { builtinResources, definitionOfKind } from './kinds.ts';

/** Component schemas by definition name. */
export type SchemaSet = Record<string, JsonSchema>;

const v3Prefix = '#/components/schemas/';
const v2Prefix = '#/definitions/';
const sharedOfLists = ['Status', 'DeleteOptions', 'WatchEvent', 'Patch'];
const discovery = ['APIGroup', 'APIGroupList', 'APIVersions', 'APIResourceList'];

/** What a group version's OpenAPI documents say of it. */
interface Version {
  readonly group: string;
  readonly version: string;
}

function readPackage(name: string): SchemaSet {
  return readDataFile<SchemaSet>(`openapi/${packageOfDefinition(name).replace('/', '-')}.json`);
}

/**
 * One definition with its description, in the v3 form, e.g. of `io.k8s.api.core.v1.Pod`; undefined if there is none.
 * Read anew at each call: the descriptions are large and seldom asked for.
 */
export async function jsonSchemaOf(name: string): Promise<JsonSchema | undefined> {
  const known = readPackage(name);
  return Object.hasOwn(known, name) ? known[name] : undefined;
}

/**
 * All component schemas that the OpenAPI v3 document of a built-in group version needs, in order of their names;
 * references are `#/components/schemas/…`. Empty for other group versions.
 */
export async function openApiV3Schemas(version: Version): Promise<SchemaSet> {
  const roots = rootsOf(version);
  if (roots.length === 0) return {};
  const schemas = closure(roots);
  for (const name in schemas) {
    const schema = schemas[name];
    if (schema !== undefined && isShared(name)) schemas[name] = ofVersion(schema, version);
  }
  return schemas;
}

/** All definitions of the OpenAPI v2 document; references are `#/definitions/…`, defaults are left out. */
export async function openApiV2Schemas(): Promise<SchemaSet> {
  const roots = builtinResources.flatMap((resource) => rootsOf(resource));
  for (const kind of discovery) roots.push(definitionName(`meta/v1.${kind}`));
  const schemas = closure([...new Set(roots), 'io.k8s.apimachinery.pkg.version.Info']);
  const definitions: SchemaSet = {};
  for (const name in schemas) definitions[name] = toV2(schemas[name] ?? {});
  return definitions;
}

function rootsOf({ group, version }: Version): string[] {
  const own = builtinResources.filter((resource) => resource.group === group && resource.version === version);
  if (own.length === 0) return [];
  const roots = new Set([definitionName('meta/v1.APIResourceList')]);
  for (const resource of own) {
    const kinds = [
      resource,
      { group, version, kind: resource.listKind },
      ...resource.subresources.map((s) => s.kind),
    ];
    for (const kind of kinds) roots.add(definitionOfKind(kind) ?? '');
  }
  // Groups of reviews alone neither list nor delete anything.
  if (own.some((resource) => resource.listKind !== '')) {
    for (const kind of sharedOfLists) roots.add(definitionName(`meta/v1.${kind}`));
  }
  roots.delete('');
  return [...roots];
}

function closure(roots: readonly string[]): SchemaSet {
  const packages = new Map<string, SchemaSet>();
  const found = new Map<string, JsonSchema>();
  const queue = [...roots];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (found.has(name)) continue;
    const key = packageOfDefinition(name);
    const known = packages.get(key) ?? readPackage(name);
    packages.set(key, known);
    const schema = known[name];
    // Options of proxy, exec and log requests are query parameters and have no schema.
    if (schema === undefined) continue;
    found.set(name, schema);
    collectReferences(schema, queue);
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function collectReferences(schema: JsonSchema, into: string[]): void {
  if (schema.$ref !== undefined) into.push(schema.$ref.slice(v3Prefix.length));
  for (const part of schema.allOf ?? []) collectReferences(part, into);
  if (schema.items !== undefined) collectReferences(schema.items, into);
  if (typeof schema.additionalProperties === 'object') collectReferences(schema.additionalProperties, into);
  const properties = schema.properties ?? {};
  for (const name in properties) collectReferences(properties[name] ?? {}, into);
}

function isShared(name: string): boolean {
  return name.endsWith('.DeleteOptions') || name.endsWith('.WatchEvent');
}

/** Kinds that every version has are listed in each document under that version and the core one alone. */
function ofVersion(schema: JsonSchema, { group, version }: Version): JsonSchema {
  const kinds = schema['x-kubernetes-group-version-kind'] ?? [];
  const own = kinds.filter(
    (kind) =>
      (kind.group === group && kind.version === version) || (kind.group === '' && kind.version === 'v1'),
  );
  return { ...schema, 'x-kubernetes-group-version-kind': own };
}

function toV2(schema: JsonSchema): JsonSchema {
  const { allOf, oneOf, default: value, properties, items, additionalProperties, ...rest } = schema;
  const out: JsonSchema = rest;
  if (isRealDefault(value)) out.default = value;
  const reference = schema.$ref ?? allOf?.[0]?.$ref;
  if (reference !== undefined) out.$ref = v2Prefix + reference.slice(v3Prefix.length);
  if (oneOf !== undefined) out.type = 'string';
  if (properties !== undefined) out.properties = mapValues(properties);
  if (items !== undefined) out.items = toV2(items);
  if (typeof additionalProperties === 'object') out.additionalProperties = toV2(additionalProperties);
  return out;
}

/** Swagger carries defaults of structured values only. */
function isRealDefault(value: unknown): value is Record<string, never> {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function mapValues(properties: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const out: Record<string, JsonSchema> = {};
  for (const name in properties) out[name] = toV2(properties[name] ?? {});
  return out;
}
