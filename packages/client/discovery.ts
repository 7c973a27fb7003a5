import { isJsonObject, type JsonObject } from '@sheaf/base';
import type { Client, ResourceRef } from './client.ts';
import { toStatusError } from './status-error.ts';
import type { ClientResponse } from './transport.ts';

/** A resource as the server offers it. */
export interface ServedResource extends ResourceRef {
  readonly verbs: readonly string[];
}

/** What a server offers, in its own order of preference. */
export interface ServerResources {
  /** Every version of every resource, the preferred one of a group first. */
  readonly all: readonly ServedResource[];
  /** `group/version` of what could not be learned, e.g. because an aggregated server is away. */
  readonly missing: readonly string[];
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const roots = ['/api', '/apis'] as const;

/** Reads discovery; a document that has not changed since the last time is neither sent nor parsed again. */
export class DiscoveryReader {
  readonly #client: Client;
  readonly #documents = new Map<string, { readonly etag: string; readonly part: ServerResources }>();
  #last: { readonly key: string; readonly value: ServerResources } | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The same value as the last time if nothing has changed. @throws StatusError */
  async read(signal?: AbortSignal): Promise<ServerResources> {
    const parts = await Promise.all(roots.map((root) => this.#readRoot(root, signal)));
    const key = parts.map(({ etag }) => etag).join(' ');
    if (this.#last?.key !== key) {
      this.#last = { key, value: joined(parts.map(({ part }) => part)) };
    }
    return this.#last.value;
  }

  async #readRoot(
    root: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly etag: string; readonly part: ServerResources }> {
    const known = this.#documents.get(root);
    const response = await this.#client.send({
      method: 'GET',
      target: root,
      headers: { accept: aggregated, ...(known ? { 'if-none-match': known.etag } : {}) },
      ...(signal ? { signal } : {}),
    });
    if (known && response.status === 304) return known;
    if (response.status !== 200) throw toStatusError(response.status, await response.text());
    const document = { etag: response.headers['etag'] ?? '', part: await partOf(response) };
    this.#documents.set(root, document);
    return document;
  }
}

/** What documents say that came as values: the same one is sent to many. */
const partsOfValues = new WeakMap<object, ServerResources>();

/** What was joined, by the part that comes first. */
const joinedParts = new WeakMap<
  ServerResources,
  { readonly parts: readonly ServerResources[]; readonly value: ServerResources }
>();

/** The same value for the same parts. */
function joined(parts: readonly ServerResources[]): ServerResources {
  const [first] = parts;
  const known = first && joinedParts.get(first);
  if (known?.parts.every((part, index) => part === parts[index])) return known.value;
  const value = { all: parts.flatMap(({ all }) => all), missing: parts.flatMap(({ missing }) => missing) };
  if (first) joinedParts.set(first, { parts, value });
  return value;
}

async function partOf({ value, text }: ClientResponse): Promise<ServerResources> {
  if (!isJsonObject(value)) return parseGroups(JSON.parse(await text()));
  let part = partsOfValues.get(value);
  if (!part) {
    part = parseGroups(value);
    partsOfValues.set(value, part);
  }
  return part;
}

function parseGroups(document: unknown): ServerResources {
  const all: ServedResource[] = [];
  const missing: string[] = [];
  for (const item of listOf(document, 'items')) {
    const group = textOf(item['metadata'], 'name');
    for (const served of listOf(item, 'versions')) {
      const version = textOf(served, 'version');
      if (served['freshness'] === 'Stale') missing.push(`${group}/${version}`);
      for (const resource of listOf(served, 'resources')) all.push(toResource(resource, group, version));
    }
  }
  return { all, missing };
}

function toResource(resource: JsonObject, group: string, version: string): ServedResource {
  const verbs = resource['verbs'];
  return {
    group,
    version,
    plural: textOf(resource, 'resource'),
    kind: textOf(resource['responseKind'], 'kind'),
    namespaced: resource['scope'] === 'Namespaced',
    verbs: Array.isArray(verbs) ? verbs.filter((verb) => typeof verb === 'string') : [],
  };
}

function listOf(value: unknown, field: string): JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter((item) => isJsonObject(item)) : [];
}

function textOf(value: unknown, field: string): string {
  const text = isJsonObject(value) ? value[field] : undefined;
  return typeof text === 'string' ? text : '';
}

/** The first, that is the preferred, version of each resource that has all the verbs. What has no kind answers, but keeps no objects. */
export function preferredResources(
  { all }: ServerResources,
  verbs: readonly string[],
): readonly ServedResource[] {
  const chosen = new Map<string, ServedResource>();
  for (const resource of all) {
    const id = `${resource.group}/${resource.plural}`;
    if (resource.kind === '' || chosen.has(id)) continue;
    if (verbs.every((verb) => resource.verbs.includes(verb))) chosen.set(id, resource);
  }
  return [...chosen.values()];
}
