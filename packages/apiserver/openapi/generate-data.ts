/**
 * Rewrites the files in `generated/` from the documents of a kube-apiserver. Usage:
 *
 *     kubectl proxy --port 8001 &
 *     node generate-data.ts http://127.0.0.1:8001
 *
 * Values of enumerated fields are taken where the definitions of `@sheaf/api` do not have them yet.
 */
import { writeFileSync } from 'node:fs';
import { jsonSchemaOf } from '@sheaf/api';

interface ParameterObject {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: { readonly type: string };
}

interface DocumentObject {
  readonly paths: Record<string, Record<string, { parameters?: ParameterObject[] } | ParameterObject[]>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

/** Those of connections alone, those whose description differs from kind to kind, and those of features that are off. */
const notShared = new Set(['name', 'path', 'logpath', 'shardSelector']);
const connections = ['attach', 'exec', 'log', 'portforward', 'proxy'];

const [server = ''] = process.argv.slice(2);
const { paths } = await get<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
const shared: Record<string, object> = {};
const connect: Record<string, object[]> = {};
const enums: Record<string, Record<string, object>> = {};
for (const path of Object.keys(paths).filter((name) => name.split('/').length >= 2)) {
  const document = await get<DocumentObject>(`/openapi/v3/${path}`);
  for (const [url, item] of Object.entries(document.paths)) readPath(url, item);
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
    collectEnums(name, schema, { known: await jsonSchemaOf(name), place: [] });
}
write('parameters.json', { shared: sorted(shared), connect });
write('enums.json', sorted(enums));

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(server + path)).json()) as T;
}

function readPath(url: string, item: DocumentObject['paths'][string]): void {
  const [resource = '', , subresource = ''] = url.split('/').slice(-3);
  const isConnection = connections.includes(subresource);
  for (const [method, operation] of Object.entries(item)) {
    const parameters = Array.isArray(operation) ? operation : (operation.parameters ?? []);
    const own = parameters.filter(({ name }) => name !== 'pretty');
    if (isConnection && Array.isArray(operation)) {
      connect[`${resource}/${subresource}`] = own
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, description = '', schema }) => ({ name, description, type: schema.type }));
    }
    for (const parameter of isConnection ? [] : parameters) addShared(parameter, method);
  }
}

function addShared({ name, in: place, description = '', schema }: ParameterObject, method: string): void {
  if (notShared.has(name)) return;
  const key = name === 'fieldManager' && method === 'patch' ? 'fieldManagerOfApply' : name;
  shared[key] ??= { description, type: schema.type, ...(place === 'query' ? {} : { in: place }) };
}

interface Place {
  readonly known: unknown;
  readonly place: readonly string[];
}

function collectEnums(name: string, schema: unknown, { known, place }: Place): void {
  if (!isObject(schema) || !isObject(known)) return;
  if (Array.isArray(schema['enum']) && known['enum'] === undefined) {
    const description = textOf(schema['description']).slice(textOf(known['description']).length);
    (enums[name] ??= {})[place.join('/')] = { description, enum: schema['enum'] };
  }
  for (const key of Object.keys(schema))
    collectEnums(name, schema[key], { known: known[key], place: [...place, key] });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function write(file: string, content: object): void {
  writeFileSync(new URL(`generated/${file}`, import.meta.url), `${JSON.stringify(content, null, 1)}\n`);
}
