import type { KubeObject } from '@sheaf/api';
import { type Clock, type Disposable, DisposableStore, type Logger, sleep, toError } from '@sheaf/base';
import {
  type DiscoveryReader,
  preferredResources,
  resources,
  type ServedResource,
  type ServerResources,
} from '@sheaf/client';
import type { Informer, Manager, ObjectChange, Runnable } from '@sheaf/runtime';
import { nodeOf, type OwnerGraph } from './owner-graph.ts';
import type { OwnerJudge } from './owner-judge.ts';
import { OwnerKinds } from './owner-kinds.ts';

export interface MonitorsOptions {
  readonly manager: Manager;
  readonly graph: OwnerGraph;
  readonly judge: () => OwnerJudge;
  readonly look: (uid: string) => void;
  /** Only these are looked at; all if absent. */
  readonly isMonitored: (resource: ServedResource) => boolean;
}

interface Monitor {
  readonly resource: ServedResource;
  readonly informer: Informer;
  readonly subscription: Disposable;
}

const selection = { metadataOnly: true } as const;
/** Kinds that nobody owns and that come in masses. */
const ignored = new Set(['/events', 'events.k8s.io/events']);
/** New kinds are served a moment after their definition is. */
const settleMs = 50;
/** Aggregated servers change what they serve without telling. */
const refreshMs = 30_000;
/** A kind that cannot be listed must not keep the others from being collected. */
const patienceMs = 10_000;

/** Watches the metadata of everything that can be deleted, kinds that come later included, and keeps the graph. */
export class Monitors implements Runnable {
  readonly #options: MonitorsOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #discovery: DiscoveryReader;
  readonly #monitors = new Map<string, Monitor>();
  readonly #lifetime = new DisposableStore();
  readonly #stop = new AbortController();
  #kinds = new OwnerKinds({ all: [], missing: [] });
  #served: ServerResources | undefined;
  #timer: Disposable | undefined;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(options: MonitorsOptions) {
    this.#options = options;
    this.#clock = options.manager.clock;
    this.#logger = options.manager.logger;
    this.#discovery = options.manager.discovery;
  }

  get kinds(): OwnerKinds {
    return this.#kinds;
  }

  /** What is collected, asked for anew: a kind may have come that is not watched yet. */
  async collected(signal: AbortSignal): Promise<readonly ServedResource[]> {
    return this.#choose(await this.#discovery.read(signal));
  }

  /** Resolves when everything that is there is known. */
  async start(): Promise<void> {
    const { manager } = this.#options;
    for (const resource of [resources.customResourceDefinitions, resources.apiServices]) {
      const informer = manager.informer(resource, selection);
      this.#lifetime.add(informer.onChange(() => this.#refreshSoon(settleMs)));
    }
    await this.refresh();
    const synced = Promise.all([...this.#monitors.values()].map(({ informer }) => informer.synced()));
    await Promise.race([synced, sleep(this.#clock, patienceMs, this.#stop.signal).catch(() => undefined)]);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the monitors stop'));
    this.#timer?.dispose();
    this.#lifetime.dispose();
    for (const { subscription } of this.#monitors.values()) subscription.dispose();
    await this.#refreshing;
  }

  /** Reads what is served and begins or ends to watch it. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(async () => {
      try {
        const served = await this.#discovery.read(this.#stop.signal);
        if (served !== this.#served) {
          this.#served = served;
          this.#kinds = new OwnerKinds(served);
          this.#adapt(this.#choose(served), served.missing);
        }
      } catch (error) {
        if (!this.#stop.signal.aborted)
          this.#logger.warn('discovery failed; what was known is collected', { cause: toError(error) });
      }
      this.#refreshSoon(refreshMs);
    });
    return this.#refreshing;
  }

  #choose(served: ServerResources): readonly ServedResource[] {
    return preferredResources(served, ['delete', 'list', 'watch']).filter(
      (resource) =>
        !ignored.has(`${resource.group}/${resource.plural}`) && this.#options.isMonitored(resource),
    );
  }

  #refreshSoon(delayMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer?.dispose();
    this.#timer = this.#clock.schedule(delayMs, () => void this.refresh());
  }

  #adapt(wanted: readonly ServedResource[], missing: readonly string[]): void {
    const ids = new Set(wanted.map((resource) => idOf(resource)));
    for (const [id, monitor] of this.#monitors) {
      const { group, version } = monitor.resource;
      if (!ids.has(id) && !missing.includes(`${group}/${version}`)) this.#end(id, monitor);
    }
    let hasNew = false;
    for (const resource of wanted) {
      if (this.#monitors.has(idOf(resource))) continue;
      this.#begin(resource);
      hasNew = true;
    }
    // Objects may have waited for the kind of their owner.
    if (hasNew)
      for (const node of this.#options.graph.nodes()) if (node.owners.length > 0) this.#look(node.uid);
  }

  #begin(resource: ServedResource): void {
    const informer = this.#options.manager.informer(resource, selection);
    const subscription = informer.onChange((change) => this.#receive(resource, change));
    this.#monitors.set(idOf(resource), { resource, informer, subscription });
  }

  /** The kind is not served any more. Whether its objects are gone is not known: who they own waits. */
  #end(id: string, { resource, subscription }: Monitor): void {
    subscription.dispose();
    this.#monitors.delete(id);
    this.#options.manager.forget(resource, selection).catch((error: unknown) => {
      this.#logger.error('a watch could not be ended', { resource: id, cause: toError(error) });
    });
    for (const node of [...this.#options.graph.nodes()])
      if (node.resource === resource) for (const uid of this.#options.graph.remove(node.uid)) this.#look(uid);
  }

  #receive(resource: ServedResource, { object, old }: ObjectChange<KubeObject>): void {
    if (old && old.metadata.uid !== object?.metadata.uid) this.#remove(resource, old);
    if (!object) return;
    for (const uid of this.#options.graph.put(nodeOf(object, resource))) this.#look(uid);
  }

  #remove(resource: ServedResource, object: KubeObject): void {
    const node = nodeOf(object, resource);
    this.#options.judge().markAbsent(node);
    for (const uid of this.#options.graph.remove(node.uid)) this.#look(uid);
  }

  #look(uid: string): void {
    this.#options.look(uid);
  }
}

function idOf({ group, version, plural }: ServedResource): string {
  return `${group}/${version}/${plural}`;
}
