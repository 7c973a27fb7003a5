import type { KubeObject } from '@sheaf/api';
import { customResourceDefinitions, type KindDefinition } from '@sheaf/api/virtualization/kind-definitions';
import { type Clock, type Logger, StatusError, sleep, toError } from '@sheaf/base';
import { type Client, DiscoveryReader, resources } from '@sheaf/client';
import { done, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { isComing, newDefinition, planByMark, planInFull, replacedDefinition, whyNotServed } from './plan.ts';

export interface DefinitionKeeperOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly definitions: readonly KindDefinition[];
}

const pollMs = 20;
const recheckMs = 1000;
/** All kinds are served sooner on a host that has time. */
const usualMs = 10_000;
const crds = resources.customResourceDefinitions;

/** Keeps the definitions that this release brings along as they are written. */
export class DefinitionKeeper {
  readonly #options: DefinitionKeeperOptions;
  readonly #byName: ReadonlyMap<string, KindDefinition>;
  /** Why a kind is not served, by the name of its definition. */
  readonly #problems = new Map<string, string>();
  /** The resource version in which a definition was as it should be, and its kind served, by its name. */
  readonly #settled = new Map<string, string>();

  constructor(options: DefinitionKeeperOptions) {
    this.#options = options;
    this.#byName = new Map(options.definitions.map((definition) => [definition.name, definition]));
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  keeps(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Why kinds are not served, by the name of their definition. Empty: all are. */
  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /**
   * Writes what is missing or differs and waits until all kinds are served: where something stands in the way of one, ten seconds at
   * most, on a busy host `boundMs`. Never fails: what is not served then is among the problems, and is looked at again by `reconcile`.
   */
  async install(boundMs: number): Promise<void> {
    const { client, clock, definitions, logger } = this.#options;
    const begun = clock.monotonic();
    try {
      const { items } = await client.list(crds, { metadataOnly: true });
      await this.#writeDiffering(new Map(items.map((crd) => [crd.metadata.name ?? '', crd])));
    } catch (error) {
      for (const { name } of definitions) this.#problems.set(name, toError(error).message);
    }
    await this.#waitUntilServed({ usual: begun + Math.min(usualMs, boundMs), end: begun + boundMs });
    await this.#settleServed();
    if (this.#problems.size > 0)
      logger.error('some kinds are not served yet; this is tried again', {
        missing: Object.fromEntries(this.#problems),
      });
  }

  /** `known` is the metadata of the definition: enough to see that nothing has changed. */
  async reconcile(
    name: string,
    known: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const definition = this.#byName.get(name);
    if (!definition || this.#isSettled(name, known)) return done;
    try {
      const crd = await this.#ensure(definition, signal);
      const why = whyNotServed(crd);
      if (why !== undefined) {
        this.#problems.set(name, why);
        return waitFor(why, recheckMs);
      }
      this.#problems.delete(name);
      this.#settle(name, crd);
      return done;
    } catch (error) {
      if (!signal.aborted) this.#problems.set(name, toError(error).message);
      throw error;
    }
  }

  #isSettled(name: string, known: KubeObject | undefined): boolean {
    const version = known?.metadata.resourceVersion;
    return version !== undefined && this.#settled.get(name) === version;
  }

  #settle(name: string, crd: KubeObject | undefined): void {
    const version = crd?.metadata.resourceVersion;
    if (version !== undefined) this.#settled.set(name, version);
  }

  async #writeDiffering(existing: ReadonlyMap<string, KubeObject>): Promise<void> {
    const differing: KindDefinition[] = [];
    for (const definition of this.#options.definitions) {
      const crd = existing.get(definition.name);
      const { action } = planByMark(definition, crd);
      if (action === 'none') this.#settle(definition.name, crd);
      else if (action !== 'wait') differing.push(definition);
    }
    const full = customResourceDefinitions(differing);
    const writes = full.map(async (crd, index) => {
      const definition = differing[index];
      if (!definition) return;
      try {
        await this.#write(definition, { full: crd, exists: existing.has(definition.name) });
      } catch (error) {
        this.#fail(definition.name, error);
      }
    });
    await Promise.all(writes);
  }

  /** The definition as it is then. */
  async #ensure(definition: KindDefinition, signal: AbortSignal): Promise<KubeObject | undefined> {
    const existing = await this.#options.client.find(crds, { name: definition.name }, signal);
    const { action } = planInFull(definition, existing);
    if (action === 'none' || action === 'wait') return existing;
    const [full] = customResourceDefinitions([definition]);
    return full ? this.#write(definition, { full, exists: existing !== undefined }, signal) : existing;
  }

  async #write(
    definition: KindDefinition,
    { full, exists }: { readonly full: KubeObject; readonly exists: boolean },
    signal?: AbortSignal,
  ): Promise<KubeObject> {
    const { client, logger } = this.#options;
    const { name } = definition;
    const query = signal ? { signal } : {};
    if (!exists) {
      const created = await client.create(crds, newDefinition(definition, full), query);
      logger.debug('a kind definition was created', { name });
      return created;
    }
    const existing = await client.get(crds, { name }, signal);
    const replaced = await client.update(crds, replacedDefinition(definition, full, existing), query);
    logger.info('a kind definition was replaced by that of this release', { name });
    return replaced;
  }

  /** Being beaten to it by someone else is fine: there is another pass. */
  #fail(name: string, error: unknown): void {
    this.#problems.set(name, toError(error).message);
    if (StatusError.is(error, 'Conflict') || StatusError.is(error, 'AlreadyExists')) return;
    this.#options.logger.warn('a kind definition could not be written', { name, cause: toError(error) });
  }

  async #waitUntilServed({ usual, end }: { readonly usual: number; readonly end: number }): Promise<void> {
    const { client, clock } = this.#options;
    const discovery = new DiscoveryReader(client);
    for (;;) {
      const unserved = await this.#unserved(discovery);
      const now = clock.monotonic();
      const isOver =
        unserved.length === 0 || now >= end || (now >= usual && !(await this.#areComing(unserved)));
      if (isOver) {
        for (const name of unserved) this.#settled.delete(name);
        await Promise.all(unserved.map((name) => this.#explain(name)));
        return;
      }
      await sleep(clock, now < usual ? pollMs : recheckMs);
    }
  }

  async #areComing(names: readonly string[]): Promise<boolean> {
    for (const name of names) if (this.#problems.has(name) || !isComing(await this.#find(name))) return false;
    return true;
  }

  async #find(name: string): Promise<KubeObject | undefined> {
    return this.#options.client.find(crds, { name }).catch(() => undefined);
  }

  /** What this start has written, and is served, need not be looked at again until it changes. */
  async #settleServed(): Promise<void> {
    const { client, definitions } = this.#options;
    const open = definitions.filter(({ name }) => !this.#settled.has(name) && !this.#problems.has(name));
    if (open.length === 0) return;
    try {
      const { items } = await client.list(crds, { metadataOnly: true });
      const existing = new Map(items.map((crd) => [crd.metadata.name ?? '', crd]));
      for (const definition of open) {
        const crd = existing.get(definition.name);
        if (planByMark(definition, crd).action === 'none') this.#settle(definition.name, crd);
      }
    } catch {
      // Each of them is then looked at by itself.
    }
  }

  async #unserved(discovery: DiscoveryReader): Promise<readonly string[]> {
    const { names } = this;
    try {
      const { all } = await discovery.read();
      const served = new Set(all.map(({ plural, group }) => `${plural}.${group}`));
      return names.filter((name) => !served.has(name));
    } catch {
      // Whether a kind is served is then told by its definition.
      return names;
    }
  }

  async #explain(name: string): Promise<void> {
    if (this.#problems.has(name)) return;
    try {
      const why = whyNotServed(await this.#options.client.find(crds, { name }));
      if (why !== undefined) this.#problems.set(name, why);
    } catch (error) {
      this.#problems.set(name, toError(error).message);
    }
  }
}
