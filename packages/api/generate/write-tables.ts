/**
 * Joins the field tables of the Go types with upstream's OpenAPI and discovery documents and writes ../generated.
 * Usage: node write-tables.ts TABLES.json KUBERNETES_DIRECTORY
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitionName } from '../builtin/definition-name.ts';
import { type DiscoveryDocument, resourceTable } from './resource-table.ts';
import { type GoTables, type OpenApiSchema, packageTable, type SchemaIndex } from './type-table.ts';

interface OpenApiDocument {
  readonly components?: { readonly schemas?: Record<string, OpenApiSchema> };
}

const [tablesFile, kubernetesDirectory] = process.argv.slice(2);
if (tablesFile === undefined || kubernetesDirectory === undefined) {
  throw new Error('usage: write-tables.ts TABLES.json KUBERNETES_DIRECTORY');
}
const out = join(import.meta.dirname, '..', 'generated');

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

/** One line per member, so that a change shows in a diff. */
function writeLines(file: string, members: readonly (readonly [string, unknown])[]): void {
  const lines = members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
}

function isServed(version: string): boolean {
  return /^v\d+$/.test(version);
}

function readSchemas(directory: string): SchemaIndex {
  const schemas: SchemaIndex = new Map();
  for (const file of readdirSync(directory).sort()) {
    const document = readJson<OpenApiDocument>(join(directory, file));
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
      schemas.set(name, schema);
  }
  return schemas;
}

/** Shared kinds (DeleteOptions, WatchEvent) list the versions of each document apart; the Swagger file has all. */
function withAllKinds(schemas: SchemaIndex, swagger: Record<string, OpenApiSchema>): void {
  for (const [name, schema] of schemas) {
    const all = swagger[name]?.['x-kubernetes-group-version-kind'];
    if (all === undefined) continue;
    const served = all.filter((kind) => isServed(kind.version));
    schemas.set(name, { ...schema, 'x-kubernetes-group-version-kind': served });
  }
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

function fileName(packageKey: string): string {
  return packageKey.replace('/', '-');
}

const tables = readJson<GoTables>(tablesFile);
const openapi = join(kubernetesDirectory, 'api', 'openapi-spec');
const schemas = readSchemas(join(openapi, 'v3'));
withAllKinds(
  schemas,
  readJson<{ definitions: Record<string, OpenApiSchema> }>(join(openapi, 'swagger.json')).definitions,
);

for (const folder of ['types', 'openapi']) {
  rmSync(join(out, folder), { recursive: true, force: true });
  mkdirSync(join(out, folder), { recursive: true });
}

const packages = Object.keys(tables.structs).sort();
for (const key of packages) {
  const table = packageTable(key, tables, schemas);
  writeLines(join(out, 'types', `${fileName(key)}.json`), Object.entries(table).sort(byName));
}

const prefixes = new Map(packages.map((key) => [definitionName(`${key}.`), key]));
const files = new Map<string, (readonly [string, unknown])[]>();
for (const [name, schema] of schemas) {
  const prefix = name.slice(0, name.lastIndexOf('.') + 1);
  if (/\.v\d+(alpha|beta)\d+\.$/.test(prefix)) continue;
  const key = prefixes.get(prefix) ?? 'meta/v1';
  const members = files.get(key) ?? [];
  members.push([name, schema]);
  files.set(key, members);
}
for (const [key, members] of files) {
  writeLines(join(out, 'openapi', `${fileName(key)}.json`), members.sort(byName));
}

const discovery = join(kubernetesDirectory, 'api', 'discovery');
const resources = resourceTable(
  readJson<DiscoveryDocument>(join(discovery, 'aggregated_v2.json')),
  readJson<{ resources: [] }>(join(discovery, 'api__v1.json')).resources,
);
const kinds: Record<string, unknown> = {};
for (const [version, members] of Object.entries(tables.kinds)) {
  const own = Object.entries(members).filter(
    ([, type]) => !type.startsWith('meta/v1.') || version.startsWith('meta'),
  );
  const packageKey = own[0]?.[1].split('.')[0];
  kinds[version] = { package: packageKey, kinds: own.map(([kind]) => kind).sort() };
}
const shared = Object.entries(tables.kinds['v1'] ?? {}).filter(([, type]) => type.startsWith('meta/v1.'));
const lines = [
  `"resources":[\n${resources.map((resource) => JSON.stringify(resource)).join(',\n')}\n]`,
  `"kindsOfVersions":{\n${Object.entries(kinds)
    .map(([version, value]) => `${JSON.stringify(version)}:${JSON.stringify(value)}`)
    .join(',\n')}\n}`,
  `"sharedKinds":${JSON.stringify(shared.map(([kind]) => kind).sort())}`,
];
writeFileSync(join(out, 'resources.json'), `{\n${lines.join(',\n')}\n}\n`);
