import type { KubeObject } from '@sheaf/api';
import type { Resource } from '@sheaf/apiserver/registry/resource';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import type { Client, ResourceRef } from '@sheaf/client';
import { allTasks, settle } from '../settle.ts';
import { TestClock } from '../test-clock.ts';
import { startTestServer, type TestServer } from '../test-server.ts';

export interface LeanTemplateOptions {
  /** The kinds that are served. */
  readonly serves: readonly Pick<ResourceRef, 'group' | 'version' | 'plural'>[];
  /** Writes what is there at the beginning, definitions of custom kinds included. */
  readonly prepare: (client: Client) => Promise<void>;
}

/** An API server as it was after its preparation: made once, the beginning of any number of lean servers. */
export interface LeanTemplate {
  readonly revision: number;
  /** By `GROUP/PLURAL`. */
  readonly objects: ReadonlyMap<string, readonly KubeObject[]>;
  /** By `GROUP/VERSION/PLURAL`. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** By path. */
  readonly discovery: ReadonlyMap<string, Discovery>;
}

export interface Discovery {
  readonly etag: string;
  readonly value: JsonObject;
}

const discoveryForm = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Opens the real API server, lets it be prepared, and takes over its kinds, its objects and what it tells of itself. */
export async function makeLeanTemplate(options: LeanTemplateOptions): Promise<LeanTemplate> {
  const { serves, prepare } = options;
  const clock = new TestClock();
  const test = await startTestServer({ clock });
  await prepare(test.client);
  await settle({ clock, until: () => serves.every((ref) => test.server.registry.find(...placeOf(ref))) });
  await allTasks();
  const template = await leanTemplateOf(test, serves);
  await test.close();
  return template;
}

/** An API server as it is now. */
export async function leanTemplateOf(
  { server, client }: Pick<TestServer, 'server' | 'client'>,
  serves: LeanTemplateOptions['serves'],
): Promise<LeanTemplate> {
  const resources = new Map<string, Resource>();
  const objects = new Map<string, readonly KubeObject[]>();
  for (const ref of serves) {
    const resource = server.registry.find(...placeOf(ref));
    if (!resource) throw new Error(`${ref.plural} are not served: let the preparation define them`);
    resources.set(placeOf(ref).join('/'), resource);
    objects.set(`${ref.group}/${ref.plural}`, (await client.list(ref as ResourceRef)).items.map(kept));
  }
  const isServed = (group: string, version: string, plural: string): boolean =>
    resources.has(`${group}/${version}/${plural}`);
  const discovery = new Map<string, Discovery>();
  for (const path of ['/api', '/apis']) discovery.set(path, await discoveryAt(client, path, isServed));
  const { revision } = server.stores;
  return { revision, objects, resources, discovery };
}

function placeOf({
  group,
  version,
  plural,
}: Pick<ResourceRef, 'group' | 'version' | 'plural'>): [string, string, string] {
  return [group, version, plural];
}

/** Shared by all that begin with it, so nobody may change it. */
function kept(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return frozen({ ...object, metadata });
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const field of Object.values(value)) frozen(field);
  return Object.freeze(value);
}

async function discoveryAt(
  client: Client,
  path: string,
  isServed: (group: string, version: string, plural: string) => boolean,
): Promise<Discovery> {
  const document = await client.raw(path, { headers: { accept: discoveryForm } });
  const groups = listOf(document['items']).map((group) => {
    const name = textOf(isJsonObject(group['metadata']) ? group['metadata'] : {}, 'name');
    const versions = listOf(group['versions']).map((version) => ({
      ...version,
      resources: listOf(version['resources']).filter((resource) =>
        isServed(name, textOf(version, 'version'), textOf(resource, 'resource')),
      ),
    }));
    return { ...group, versions: versions.filter(({ resources }) => resources.length > 0) };
  });
  const items = groups.filter(({ versions }) => versions.length > 0);
  return { etag: '"lean"', value: { ...document, items } };
}

function textOf(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}
