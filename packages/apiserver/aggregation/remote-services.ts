import {
  type Clock,
  type Disposable,
  DisposableStore,
  isJsonObject,
  type JsonObject,
  type Logger,
  toError,
} from '@sheaf/base';
import type { RemoteGroupVersion, RemoteResource } from '../discovery/served-groups.ts';
import type { ResourceStores } from '../storage/resource-stores.ts';
import { resolveService } from '../upstream/service-targets.ts';
import type { Upstream, UpstreamTarget } from '../upstream/upstream.ts';
import { timestamp } from '../verbs/write-parts.ts';
import { readRemoteDocument } from './remote-document.ts';
import {
  type Availability,
  type RemoteService,
  readRemoteService,
  targetOf,
  withAvailability,
} from './remote-service.ts';

export interface RemoteServicesOptions {
  readonly stores: ResourceStores;
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often a server is asked whether it is there. */
const checkIntervalMs = 30_000;
const retryIntervalMs = 5000;

interface Known {
  readonly remote: RemoteService;
  availability: Availability;
  resources: readonly RemoteResource[];
  /** Of the OpenAPI document of its group version; `undefined` if there is none. */
  openapiHash: string | undefined;
  timer: Disposable | undefined;
}

const unchecked: Availability = {
  isAvailable: false,
  reason: 'ServiceNotChecked',
  message: 'the service has not been asked yet',
};

/** The aggregated API servers: whether each is there, observed again and again, and what it serves. */
export class RemoteServices implements Disposable {
  readonly #options: RemoteServicesOptions;
  readonly #known = new Map<string, Known>();
  readonly #lifetime = new DisposableStore();
  readonly #stop = new AbortController();
  #version = 0;

  constructor(options: RemoteServicesOptions) {
    this.#options = options;
    // Services and their endpoints decide where a server is.
    for (const [group, plural] of [
      ['', 'services'],
      ['', 'endpoints'],
      ['discovery.k8s.io', 'endpointslices'],
    ] as const)
      options.stores.of(group, plural);
  }

  start(): void {
    const view = this.#options.stores.of('apiregistration.k8s.io', 'apiservices');
    for (const service of view.list()) this.#update(service.metadata.name ?? '', readRemoteService(service));
    this.#lifetime.add(
      view.onChange(({ name, object }) => this.#update(name, object && readRemoteService(object))),
    );
  }

  dispose(): void {
    this.#stop.abort(new Error('the server stops'));
    for (const { timer } of this.#known.values()) timer?.dispose();
    this.#lifetime.dispose();
  }

  /** What discovery shows of them. */
  groups(): { readonly version: number; readonly groups: readonly RemoteGroupVersion[] } {
    const groups = [...this.#known.values()].map(({ remote, availability, resources }) => ({
      group: remote.group,
      version: remote.version,
      isAvailable: availability.isAvailable,
      resources,
    }));
    return { version: this.#version, groups };
  }

  /** The OpenAPI documents of those that are there: hashes by the path below `/openapi/v3/`. */
  openapi(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const { remote, availability, openapiHash } of this.#known.values())
      if (availability.isAvailable && openapiHash !== undefined)
        found.set(`apis/${remote.group}/${remote.version}`, openapiHash);
    return found;
  }

  /** Where a group version is served, or why it cannot be asked; `undefined` if it is not aggregated. */
  find(
    group: string,
    version: string,
  ): { readonly target: UpstreamTarget } | { readonly missing: string } | undefined {
    for (const { remote } of this.#known.values()) {
      if (remote.group === group && remote.version === version) return this.#locate(remote);
    }
    return undefined;
  }

  #locate(remote: RemoteService): { readonly target: UpstreamTarget } | { readonly missing: string } {
    const place = resolveService(this.#options.stores, remote.service);
    return 'host' in place ? { target: targetOf(remote, place) } : place;
  }

  #update(name: string, remote: RemoteService | undefined): void {
    const known = this.#known.get(name);
    if (known && remote && JSON.stringify(known.remote) === JSON.stringify(remote)) return;
    known?.timer?.dispose();
    this.#known.delete(name);
    if (remote) {
      const added: Known = {
        remote,
        availability: unchecked,
        resources: [],
        openapiHash: undefined,
        timer: undefined,
      };
      this.#known.set(name, added);
      void this.#check(added);
    }
    this.#version++;
  }

  async #check(known: Known): Promise<void> {
    const { clock } = this.#options;
    const before = JSON.stringify([known.availability, known.resources, known.openapiHash]);
    known.availability = await this.#observe(known);
    if (this.#stop.signal.aborted || this.#known.get(known.remote.name) !== known) return;
    if (JSON.stringify([known.availability, known.resources, known.openapiHash]) !== before) this.#version++;
    await this.#writeStatus(known);
    const interval = known.availability.isAvailable ? checkIntervalMs : retryIntervalMs;
    known.timer = clock.schedule(interval, () => void this.#check(known));
  }

  async #observe(known: Known): Promise<Availability> {
    const { remote } = known;
    const found = this.#locate(remote);
    if ('missing' in found) return { isAvailable: false, reason: 'MissingEndpoints', message: found.missing };
    try {
      const { group, version } = remote;
      known.resources = readResources(await this.#read(found.target, `/apis/${group}/${version}`));
      known.openapiHash = await this.#openapiHash(found.target, remote);
      return { isAvailable: true, reason: 'Passed', message: 'all checks passed' };
    } catch (error) {
      const message = `failing or missing response from https://${found.target.host}:${found.target.port}/apis/${remote.group}/${remote.version}: ${toError(error).message}`;
      return { isAvailable: false, reason: 'FailedDiscoveryCheck', message };
    }
  }

  #read(target: UpstreamTarget, path: string): Promise<JsonObject> {
    const { upstream, clock } = this.#options;
    return readRemoteDocument({ upstream, clock, signal: this.#stop.signal }, target, path);
  }

  /** A server without OpenAPI is as good as any other. */
  async #openapiHash(target: UpstreamTarget, { group, version }: RemoteService): Promise<string | undefined> {
    try {
      const { paths } = await this.#read(target, '/openapi/v3');
      const entry = isJsonObject(paths) ? paths[`apis/${group}/${version}`] : undefined;
      const url = isJsonObject(entry) ? entry['serverRelativeURL'] : undefined;
      return typeof url === 'string' ? /[?&]hash=([0-9A-Za-z]+)/.exec(url)?.[1] : undefined;
    } catch {
      return undefined;
    }
  }

  async #writeStatus({ remote, availability }: Known): Promise<void> {
    const store = this.#options.stores.storeOf('apiregistration.k8s.io', 'apiservices');
    try {
      await store.change({ namespace: '', name: remote.name }, (entry) => {
        const object = entry.object;
        const next = withAvailability(object, availability, timestamp(this.#options.clock));
        return next === object ? { keep: true } : { write: next };
      });
    } catch (error) {
      this.#options.logger.warn('status of an API service could not be written', {
        name: remote.name,
        cause: toError(error),
      });
    }
  }
}

function readResources(document: JsonObject): readonly RemoteResource[] {
  const { resources } = document;
  if (!Array.isArray(resources)) return [];
  return resources.filter(
    (item) => isJsonObject(item) && typeof item['name'] === 'string' && typeof item['kind'] === 'string',
  ) as unknown as RemoteResource[];
}
