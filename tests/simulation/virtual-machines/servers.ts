import type { ApiExtensions } from '@sheaf/api';
import { storageDriver } from '@sheaf/api/virtualization/index';
import type { LiveViews } from '@sheaf/apiserver/storage/live-view';
import type { Clock, Random } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { ensureStorage } from '@sheaf/features/volume';
import { ensureSnapshotClasses } from '@sheaf/features/volume-snapshot';
import { MemoryStore } from '@sheaf/store';
import { type SimulatedServer, startTestServer, type TestServer } from '@sheaf/testkit';
import {
  type KeptObjects,
  LeanServer,
  type LeanTemplate,
  leanAdmin,
  makeLeanTemplate,
} from '@sheaf/testkit/lean-server/index';
import { definitionsOfKinds, namespaceNames, servedKinds } from './kinds.ts';

/** One life of the server that machines are kept in. */
export interface MachineServer extends SimulatedServer {
  /** What is kept now, past all requests. */
  readonly views: LiveViews;
  /** Makes what is there before anything happens, if it is not there yet. */
  prepare(): Promise<void>;
}

export type Extend = (api: ApiExtensions, client: Client) => void;
export type OpenServer = (parts: {
  readonly clock: Clock;
  readonly random: Random;
}) => Promise<MachineServer>;

/** The API server itself, on one store in all its lives. */
export function realServers(extend: Extend): OpenServer {
  const store = new MemoryStore();
  return async (parts) => {
    const test = await startTestServer({ ...parts, store, extend });
    const { client, transportAs, end } = test;
    const views = await loadedViews(test);
    return { client, transportAs, end, views, prepare: () => prepare(client) };
  };
}

/**
 * A server reads a kind when someone asks for it, and a view of a kind that it has not read yet is empty and says of no change when
 * it has. Who looks past all requests needs all of it from the start.
 */
export async function loadedViews({ server }: Pick<TestServer, 'server'>): Promise<LiveViews> {
  for (const { group, plural } of servedKinds) server.stores.of(group, plural);
  await server.stores.loadViews();
  return server.stores;
}

/** What is written for people. */
const unkept: ReadonlySet<string> = new Set([resources.events.plural]);

/** A server that keeps the same rules and takes a fraction of the time. `beginning`: whose objects are there at first. */
export function leanServers(extend: Extend, beginning?: KeptObjects): OpenServer {
  const objects = beginning?.state();
  let last: LeanServer | undefined;
  return async (parts) => {
    const prepared = await template();
    const begun = objects && beginning ? { ...prepared, objects, revision: beginning.revision } : prepared;
    const server = new LeanServer({ ...parts, template: begun, extend, unkept, last });
    last = server;
    return {
      client: server.clientAs(leanAdmin),
      transportAs: (user) => server.transport(user),
      near: server,
      end: () => server.end(),
      views: server.kept,
      prepare: () => Promise.resolve(),
    };
  };
}

let made: Promise<LeanTemplate> | undefined;

/** Made once in a process. */
function template(): Promise<LeanTemplate> {
  made ??= makeLeanTemplate({ serves: servedKinds, prepare });
  return made;
}

export async function prepare(client: Client): Promise<void> {
  for (const name of namespaceNames) await client.create(resources.namespaces, { metadata: { name } });
  for (const definition of definitionsOfKinds())
    await client.create(resources.customResourceDefinitions, definition);
  await ensureStorage(client);
  await ensureSnapshotClasses(client);
  const driver = { provisioner: storageDriver, allowVolumeExpansion: true };
  const classes = resources.storageClasses as ResourceRef;
  await client.create(classes, { metadata: { name: 'kept' }, ...driver, reclaimPolicy: 'Retain' });
  const parameters = { 'sheaf.dev/provisioning': 'full' };
  await client.create(classes, { metadata: { name: 'full' }, ...driver, parameters });
}
