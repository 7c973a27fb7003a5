import type { ApiExtensions } from '@sheaf/api';
import type { LiveViews } from '@sheaf/apiserver/storage/live-view';
import type { Clock, Random } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { MemoryStore } from '@sheaf/store';
import { type SimulatedServer, startTestServer, type TestServer } from '@sheaf/testkit';
import {
  type KeptObjects,
  LeanServer,
  type LeanTemplate,
  leanAdmin,
  makeLeanTemplate,
} from '@sheaf/testkit/lean-server/index';

/** One life of a server whose objects can be looked at past all requests. */
export interface KeptServer extends SimulatedServer {
  /** What is kept now. */
  readonly views: LiveViews;
  /** Makes what is there before anything happens, if it is not there yet. */
  prepare(): Promise<void>;
}

export type Extend = (api: ApiExtensions, client: Client) => void;
export type OpenServer = (parts: { readonly clock: Clock; readonly random: Random }) => Promise<KeptServer>;

/** The kinds that are served, and what is there at first, of one subject. */
export interface Ground {
  readonly servedKinds: readonly ResourceRef[];
  readonly prepare: (client: Client) => Promise<void>;
}

/** The API server itself, on one store in all its lives. */
export function realServers({ servedKinds, prepare }: Ground, extend: Extend = nothing): OpenServer {
  const store = new MemoryStore();
  return async (parts) => {
    const test = await startTestServer({ ...parts, store, extend });
    const { client, transportAs, end } = test;
    const views = await loadedViews(test, servedKinds);
    return { client, transportAs, end, views, prepare: () => prepare(client) };
  };
}

/**
 * A server reads a kind when someone asks for it, and a view of a kind that it has not read yet is empty and says of no change when
 * it has. Who looks past all requests needs all of it from the start.
 */
export async function loadedViews(
  { server }: Pick<TestServer, 'server'>,
  servedKinds: readonly ResourceRef[],
): Promise<LiveViews> {
  for (const { group, plural } of servedKinds) server.stores.of(group, plural);
  await server.stores.loadViews();
  return server.stores;
}

/** What is written for people. */
const unkept: ReadonlySet<string> = new Set([resources.events.plural]);

/** A server that keeps the same rules and takes a fraction of the time. `beginning`: whose objects are there at first. */
export function leanServers(
  ground: Ground,
  { extend = nothing, beginning }: { readonly extend?: Extend; readonly beginning?: KeptObjects | undefined },
): OpenServer {
  const objects = beginning?.state();
  let last: LeanServer | undefined;
  return async (parts) => {
    const prepared = await template(ground);
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

const made = new Map<Ground, Promise<LeanTemplate>>();

/** Made once in a process. */
function template(ground: Ground): Promise<LeanTemplate> {
  const known = made.get(ground);
  if (known) return known;
  const making = makeLeanTemplate({ serves: ground.servedKinds, prepare: ground.prepare });
  made.set(ground, making);
  return making;
}

function nothing(): void {
  // The server as it is.
}
