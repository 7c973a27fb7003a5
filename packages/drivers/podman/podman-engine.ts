import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  type Disposable,
  type Logger,
  type Random,
  StatusError,
  sleep,
  toError,
} from '@sheaf/base';
import type { ContainerCapabilities } from '@sheaf/ports';
import { lockDirectory } from '../local-disk/directory-lock.ts';
import { dockerArchive } from './archive/image-archive.ts';
import { EngineCatalog } from './engine-catalog.ts';
import {
  containerObservation,
  isRunning,
  type SeenContainer,
  sandboxObservation,
} from './engine-containers.ts';
import { type EngineSettings, writeEngineFiles } from './engine-files.ts';
import type { EngineLayout } from './engine-layout.ts';
import type { PodmanLimits } from './engine-limits.ts';
import { engineName, labelNames } from './engine-names.ts';
import type { EngineProbe } from './engine-probe.ts';
import { EngineService } from './engine-service.ts';
import { endAbandoned } from './exec-sessions.ts';
import { controlPath, rotateLog } from './log-rotation.ts';
import { mountsBelow, unmount, unmountBelow } from './mounts.ts';
import { hasRunOutOfMemory } from './out-of-memory-log.ts';
import { pauseImage } from './pause/pause-image.ts';
import { runPodman } from './podman-program.ts';
import { refusals } from './refusals.ts';
import type { RestCall, RestClient } from './rest-client.ts';
import { RunRecords } from './run-records.ts';
import { endUnwatched } from './unwatched.ts';

export interface EngineParts {
  readonly layout: EngineLayout;
  readonly probe: EngineProbe;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly limits: PodmanLimits;
  readonly bootId: string;
}

/** A process that was killed takes some time to be gone. */
const mostAttempts = 20;
const attemptMs = 50;

/** One engine with its directory: opened with the first call, by one process at a time. */
export class PodmanEngine implements Disposable {
  readonly parts: EngineParts;
  readonly records: RunRecords;
  readonly catalog: EngineCatalog;
  readonly #service: EngineService;
  readonly #life = new AbortController();
  readonly #listeners = new Set<(sandboxId: string) => void>();
  #opening: Promise<EngineSettings> | undefined;
  #lock: Disposable | undefined;
  #storing: Promise<void> | undefined;
  #seen: ReadonlyMap<string, SeenContainer> = new Map();

  constructor(parts: EngineParts) {
    this.parts = parts;
    const { layout, clock, random, logger, limits, bootId } = parts;
    this.records = new RunRecords(layout.records);
    this.#service = new EngineService({
      layout,
      clock,
      random,
      logger,
      limits,
      bootId,
      onStart: (client) => void this.#watch(client),
    });
    this.catalog = new EngineCatalog({
      call: (call) => this.call(call),
      records: this.records,
      bootId,
      hasRunOutOfMemory,
      endUnwatched: (container) => endUnwatched(layout, container, limits.callMs),
    });
  }

  /** Nothing has ever been made in this directory, so nothing can be there. */
  get isUntouched(): boolean {
    return this.#opening === undefined && !existsSync(this.parts.layout.storage);
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  dispose(): void {
    this.#life.abort(new Error('the driver has been disposed'));
    this.#service.dispose();
    this.#listeners.clear();
    this.#lock?.dispose();
  }

  listen(listener: (sandboxId: string) => void): Disposable {
    const own = (id: string): void => listener(id);
    this.#listeners.add(own);
    return { dispose: () => this.#listeners.delete(own) };
  }

  announce(sandboxId: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(sandboxId);
      } catch (error) {
        this.parts.logger.error('A listener for changes of containers failed', { error: toError(error) });
      }
    }
  }

  async probe(): Promise<ContainerCapabilities> {
    await this.opened().catch(async (error: unknown) => {
      if (this.signal.aborted) throw error;
      await this.parts.probe.run();
    });
    return this.parts.probe.found().capabilities;
  }

  /** Resolves when the engine can be used. @throws StatusError with the way out where it cannot be had */
  async opened(): Promise<EngineSettings> {
    this.signal.throwIfAborted();
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  /** One call of the engine. What only looks is asked again while the service ends under it. */
  async call(call: Omit<RestCall, 'limitMs'>): Promise<unknown> {
    const { clock, limits } = this.parts;
    for (let attempt = 1; ; attempt++) {
      try {
        return await (await this.#service.client()).call({ ...call, limitMs: limits.callMs });
      } catch (error) {
        const isAskedAgain = call.method === 'GET' && StatusError.is(error, 'ServiceUnavailable');
        if (!isAskedAgain || attempt === mostAttempts || this.signal.aborted) throw error;
        await sleep(clock, attemptMs, this.signal);
      }
    }
  }

  async client(): Promise<RestClient> {
    return await this.#service.client();
  }

  /** With the name of the image that sandboxes are made from; it is there, unless somebody removes it meanwhile. */
  async withSandboxImage<T>(use: (name: string) => Promise<T>): Promise<T> {
    const { name } = pauseImage();
    try {
      this.#storing ??= this.#ensureSandboxImage(name);
      await this.#storing;
      return await use(name);
    } catch (error) {
      // Whoever comes next looks for it.
      this.#storing = undefined;
      throw error;
    }
  }

  async #ensureSandboxImage(name: string): Promise<void> {
    const images = await this.call({
      method: 'GET',
      path: `/images/json?filters=${encodeURIComponent(JSON.stringify({ reference: [name] }))}`,
    });
    if (((images ?? []) as readonly unknown[]).length > 0) return;
    const archive = dockerArchive([pauseImage()]);
    const { status, errors } = await runPodman(this.parts.layout, {
      args: ['load', '--quiet'],
      input: parts(archive),
      signal: AbortSignal.timeout(this.parts.limits.loadMs),
    });
    if (status !== 0) throw new Error(`the image of sandboxes cannot be stored: ${errors.trim()}`);
  }

  async #open(): Promise<EngineSettings> {
    const { layout, clock, probe } = this.parts;
    await mkdir(layout.directory, { recursive: true, mode: 0o700 });
    this.#lock ??= await lockDirectory(layout.directory, clock);
    if (this.signal.aborted) this.#lock.dispose();
    this.signal.throwIfAborted();
    await this.#forgetEarlierBoot();
    await this.#service.endEarlier();
    const { settings, capabilities } = await probe.run();
    const { containers } = capabilities;
    if (!settings) throw refusals.unavailable(containers.reason, containers.wayOut ?? 'probe again');
    await writeEngineFiles(layout, settings);
    await unmountChecks(layout);
    await rm(layout.pulls, { recursive: true, force: true });
    await mkdir(layout.pulls, { mode: 0o700 });
    await rm(layout.temporary, { recursive: true, force: true });
    await mkdir(layout.temporary, { mode: 0o700 });
    await this.#service.client();
    await this.#sweep();
    // Apart: a look does not end while the service hangs.
    void this.#repeat(() => this.#service.check());
    void this.#repeat(() => this.#lookAround(settings));
    return settings;
  }

  /** What does not outlive a restart of the host is gone then: the engine finds out by that. */
  async #forgetEarlierBoot(): Promise<void> {
    const { layout, bootId } = this.parts;
    const kept = await readFile(layout.bootRecord, 'utf8').catch(() => undefined);
    if (kept === bootId) return;
    await unmountBelow(layout.directory);
    const run = join(layout.directory, 'run');
    await rm(run, { recursive: true, force: true });
    await mkdir(run, { recursive: true, mode: 0o700 });
    await writeFile(layout.bootRecord, bootId);
  }

  /** Removes what was left of removals that were cut off, and of connections. */
  async #sweep(): Promise<void> {
    const { layout } = this.parts;
    const seen = await this.catalog.all();
    const names = new Set(seen.map(({ listed }) => engineName(listed.role, listed.id)));
    const sandboxes = new Set(seen.map(({ listed }) => listed.sandboxId));
    for (const name of await this.records.names()) if (!names.has(name)) await this.records.remove(name);
    for (const sandboxId of await readdir(layout.logs))
      if (!sandboxes.has(sandboxId)) await rm(join(layout.logs, sandboxId), { recursive: true, force: true });
    const abandoned = seen.filter(isRunning).flatMap(({ detail }) => detail.executions);
    void endAbandoned(abandoned, (call) => this.call(call));
  }

  /** Announces ends that the engine tells, until the service ends: starts and removals are ours. */
  async #watch(client: RestClient): Promise<void> {
    const filters = encodeURIComponent(JSON.stringify({ type: ['container'], event: ['died'] }));
    try {
      for await (const line of client.lines(`/events?stream=true&filters=${filters}`, this.signal)) {
        const sandboxId = sandboxOf(line);
        if (sandboxId !== undefined) this.announce(sandboxId);
      }
    } catch (error) {
      if (!this.signal.aborted)
        this.parts.logger.debug('The events of the container engine ended', { error: toError(error) });
    }
  }

  /** From time to time, for as long as this lives. */
  async #repeat(task: () => Promise<void>): Promise<void> {
    const { clock, limits, logger } = this.parts;
    while (!this.signal.aborted) {
      await sleep(clock, limits.heartbeatMs, this.signal).catch(() => undefined);
      if (this.signal.aborted) return;
      try {
        await task();
      } catch (error) {
        if (!this.signal.aborted)
          logger.warn('The container engine could not be asked', { error: toError(error) });
      }
    }
  }

  /** Looks for what no event told, and for logs that have become long. */
  async #lookAround(settings: EngineSettings): Promise<void> {
    const all = await this.catalog.all();
    this.#compare(all);
    await Promise.all(all.filter(isRunning).map((seen) => this.#rotate(seen, settings)));
  }

  async #rotate({ listed }: SeenContainer, { storage }: EngineSettings): Promise<void> {
    const { layout, limits, clock } = this.parts;
    if (listed.role !== 'container') return;
    await rotateLog({
      directory: join(layout.logs, listed.sandboxId, engineName(listed.role, listed.id)),
      controlPath: controlPath({ directory: layout.storage, driver: storage }, listed.engineId),
      maxBytes: limits.logBytes,
      maxParts: limits.logParts,
      clock,
    });
  }

  /** Announces what has changed since the last look, and what somebody else has removed. */
  #compare(all: readonly SeenContainer[]): void {
    const before = this.#seen;
    this.#seen = new Map(all.map((seen) => [nameOf(seen), seen]));
    const changed = all.filter((seen) => {
      const known = before.get(nameOf(seen));
      return !known || signatureOf(known) !== signatureOf(seen);
    });
    const gone = [...before.values()].filter((seen) => !this.#seen.has(nameOf(seen)));
    for (const sandboxId of new Set([...changed, ...gone].map(({ listed }) => listed.sandboxId)))
      this.announce(sandboxId);
  }
}

function nameOf({ listed }: SeenContainer): string {
  return engineName(listed.role, listed.id);
}

/** The engine tries out its file system when it starts; one that was killed then leaves a mount. */
async function unmountChecks({ storage }: EngineLayout): Promise<void> {
  const found = await mountsBelow(join(storage, 'overlay'));
  for (const path of found.filter((name) => /-check\d+\//.test(name))) await unmount(path);
}

function signatureOf(seen: SeenContainer): string {
  const observation = seen.listed.role === 'sandbox' ? sandboxObservation(seen) : containerObservation(seen);
  return `${observation.state} ${seen.listed.processId}`;
}

function sandboxOf(line: string): string | undefined {
  const event = JSON.parse(line) as { readonly Actor?: { readonly Attributes?: Record<string, string> } };
  return event.Actor?.Attributes?.[labelNames.sandbox];
}

async function* parts(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
