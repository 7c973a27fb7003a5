import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '@sheaf/base';
import type { SandboxObservation, SandboxSpec } from '@sheaf/ports';
import { removeContainerRemains } from './container-remains.ts';
import { sandboxRequest } from './container-request.ts';
import {
  isRunning,
  type ListedContainer,
  type SeenContainer,
  sandboxObservation,
} from './engine-containers.ts';
import { engineName } from './engine-names.ts';
import { removeNameFiles } from './name-files.ts';
import { NetworkTidying } from './network-tidying.ts';
import { lowestScore } from './out-of-memory-score.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { refusals, translated } from './refusals.ts';
import { RestError } from './rest-client.ts';
import { tidyUp } from './unwatched.ts';

const pollMs = 20;
/** conmon has the engine tidy up behind a container; where that has not been done after this time, it will not be. */
const tidyMs = 3000;
/** It has ended, and given back what it had; a container has nothing that others want. */
const over = {
  sandbox: ['exited', 'created', 'configured'],
  container: ['stopped', 'exited', 'created', 'configured'],
};

/** Sandboxes as containers that hold namespaces and wait. */
export class Sandboxes {
  readonly #engine: PodmanEngine;
  readonly #network: NetworkTidying;

  constructor(engine: PodmanEngine) {
    this.#engine = engine;
    this.#network = new NetworkTidying(engine);
  }

  async find(id: string): Promise<SandboxObservation | undefined> {
    const seen = await this.#engine.catalog.find('sandbox', id);
    return seen && sandboxObservation(seen);
  }

  async start(spec: SandboxSpec): Promise<SandboxObservation> {
    const seen = await this.#engine.catalog.find('sandbox', spec.id);
    const state = seen && sandboxObservation(seen);
    if (state && state.state !== 'starting') return state;
    return spec.network.kind === 'pod'
      ? await this.#network.use(() => this.#make(spec, seen))
      : await this.#make(spec, seen);
  }

  async end(id: string): Promise<void> {
    const { catalog } = this.#engine;
    const seen = await catalog.find('sandbox', id);
    if (!seen) throw refusals.noSandbox(id);
    const within = await catalog.within(id);
    await Promise.all(within.map((container) => this.#end(container)));
    await this.#end(seen);
    this.#engine.announce(id);
  }

  async remove(id: string): Promise<void> {
    const { catalog, parts } = this.#engine;
    const seen = await catalog.find('sandbox', id);
    if (!seen) return;
    if (sandboxObservation(seen).state !== 'ended') throw refusals.sandboxRuns(id);
    const within = await catalog.within(id);
    await Promise.all(within.map(({ listed }) => removeContainerRemains(this.#engine, listed)));
    await rm(join(parts.layout.logs, id), { recursive: true, force: true });
    await removeNameFiles(parts.layout.names, id);
    // Something that needed it may have made the engine start it again: that ends with it.
    await this.#delete(seen.listed.engineId);
    await this.#engine.records.remove(engineName('sandbox', id));
    if (seen.listed.sharing?.network === 'pod') await this.#network.tidy(seen.listed.engineId);
  }

  async #make(spec: SandboxSpec, seen: SeenContainer | undefined): Promise<SandboxObservation> {
    const name = engineName('sandbox', spec.id);
    const { records, parts } = this.#engine;
    if (!seen) await this.#create(spec);
    await records.write(name, { bootId: parts.bootId });
    try {
      await this.#engine.call({ method: 'POST', path: `/containers/${name}/start` });
    } catch (error) {
      if (error instanceof RestError) {
        await this.#delete(name);
        await records.remove(name);
      }
      throw translated(error);
    }
    this.#engine.announce(spec.id);
    const made = await this.find(spec.id);
    if (!made) throw refusals.noSandbox(spec.id);
    return made;
  }

  async #create(spec: SandboxSpec): Promise<void> {
    const { probe, layout } = this.#engine.parts;
    const { podNetwork } = probe.found().capabilities;
    if (spec.network.kind === 'pod' && !podNetwork.isAvailable) throw refusals.noNetwork(podNetwork.reason);
    const logs = join(layout.logs, spec.id);
    await mkdir(logs, { recursive: true, mode: 0o700 });
    const parts = {
      networkName: layout.networkName,
      logPath: join(logs, 'sandbox.log'),
      lowestScore: await lowestScore(),
    };
    try {
      await this.#engine.withSandboxImage((image) =>
        this.#engine.call({
          method: 'POST',
          path: '/containers/create',
          body: sandboxRequest(spec, { ...parts, image }),
        }),
      );
    } catch (error) {
      throw translated(error);
    }
  }

  /** Kills it, and waits until the engine has seen its end. */
  async #end(seen: SeenContainer): Promise<void> {
    const { role, id, engineId } = seen.listed;
    const { parts, catalog } = this.#engine;
    await this.#keepFromStarting(seen);
    const { clock, limits } = parts;
    const end = clock.monotonic() + limits.endMs;
    for (let now: SeenContainer | undefined = seen; now; now = await catalog.find(role, id)) {
      if (over[role].includes(now.listed.state)) return;
      if (clock.monotonic() > end) throw refusals.notEnding(id);
      await (now.listed.state === 'stopped' ? this.#tidy(now.listed) : this.#stop(engineId));
    }
  }

  /** Waits until it is tidied up behind it; does it where nobody else does. */
  async #tidy({ role, id, engineId }: ListedContainer): Promise<void> {
    const { catalog, parts } = this.#engine;
    const { clock, layout, limits } = parts;
    const end = clock.monotonic() + tidyMs;
    while (clock.monotonic() < end) {
      await sleep(clock, pollMs);
      const now = await catalog.find(role, id);
      if (now?.listed.state !== 'stopped') return;
    }
    await tidyUp(layout, engineId, limits.callMs);
  }

  /** One that has not been started never will be. */
  async #keepFromStarting(seen: SeenContainer): Promise<void> {
    const { role, id } = seen.listed;
    if (isRunning(seen) || seen.detail.startedAt !== undefined || seen.record?.failure !== undefined) return;
    await this.#engine.records.write(engineName(role, id), {
      bootId: this.#engine.parts.bootId,
      failure: 'its sandbox was ended before it started',
    });
  }

  /** Resolves when it has ended and given back what it had; or cannot be ended now. */
  async #stop(engineId: string): Promise<void> {
    const { clock } = this.#engine.parts;
    try {
      await this.#engine.call({ method: 'POST', path: `/containers/${engineId}/stop?timeout=0` });
    } catch (error) {
      // It ended by itself, or is in the hands of somebody else.
      if (!(error instanceof RestError)) throw error;
      await sleep(clock, pollMs);
    }
  }

  async #delete(name: string): Promise<void> {
    try {
      await this.#engine.call({ method: 'DELETE', path: `/containers/${name}?force=true&timeout=0&v=true` });
    } catch (error) {
      if (!(error instanceof RestError && error.status === 404)) throw translated(error);
    }
  }
}
