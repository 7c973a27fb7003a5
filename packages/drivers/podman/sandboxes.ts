import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '@sheaf/base';
import type { SandboxObservation, SandboxSpec } from '@sheaf/ports';
import { TaskQueue } from '../qemu/task-queue.ts';
import { removeContainerRemains } from './container-remains.ts';
import { sandboxRequest } from './container-request.ts';
import { isRunning, type SeenContainer, sandboxObservation } from './engine-containers.ts';
import { engineName } from './engine-names.ts';
import { removeNetwork, removePortRules } from './network-traces.ts';
import { lowestScore } from './out-of-memory-score.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { refusals, translated } from './refusals.ts';
import { RestError } from './rest-client.ts';

const pollMs = 20;

/** Sandboxes as containers that hold namespaces and wait. */
export class Sandboxes {
  readonly #engine: PodmanEngine;
  /** The bridge is taken away when the last one goes, and comes with the first. */
  readonly #network = new TaskQueue();

  constructor(engine: PodmanEngine) {
    this.#engine = engine;
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
      ? await this.#network.run(() => this.#make(spec, seen))
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
    // Something that needed it may have made the engine start it again.
    await this.end(id);
    for (const { listed } of await catalog.within(id))
      await removeContainerRemains(this.#engine, { id: listed.id, engineId: listed.engineId });
    await rm(join(parts.layout.logs, id), { recursive: true, force: true });
    await this.#delete(seen.listed.engineId);
    await this.#engine.records.remove(engineName('sandbox', id));
    if (seen.listed.sharing?.network === 'pod')
      await this.#network.run(() => this.#tidyNetwork(seen.listed.engineId));
    this.#engine.announce(id);
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
    const { parts } = this.#engine;
    const { podNetwork } = parts.probe.found().capabilities;
    if (spec.network.kind === 'pod' && !podNetwork.isAvailable) throw refusals.noNetwork(podNetwork.reason);
    const logs = join(parts.layout.logs, spec.id);
    await mkdir(logs, { recursive: true, mode: 0o700 });
    const body = sandboxRequest(spec, {
      image: await this.#engine.sandboxImage(),
      networkName: parts.layout.networkName,
      logPath: join(logs, 'sandbox.log'),
      lowestScore: await lowestScore(),
    });
    try {
      await this.#engine.call({ method: 'POST', path: '/containers/create', body });
    } catch (error) {
      throw translated(error);
    }
  }

  /** Kills it, and waits until the engine has seen its end and given back what it had. */
  async #end(seen: SeenContainer): Promise<void> {
    const { role, id, engineId } = seen.listed;
    const { parts, catalog } = this.#engine;
    await this.#keepFromStarting(seen);
    const { clock, limits } = parts;
    const end = clock.monotonic() + limits.endMs;
    for (;;) {
      const now = await catalog.find(role, id);
      if (!now || ['exited', 'created', 'configured'].includes(now.listed.state)) return;
      if (clock.monotonic() > end) throw refusals.notEnding(id);
      if (isRunning(now)) await this.#kill(engineId);
      await sleep(clock, pollMs);
    }
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

  async #kill(engineId: string): Promise<void> {
    try {
      await this.#engine.call({ method: 'POST', path: `/containers/${engineId}/kill?signal=KILL` });
    } catch (error) {
      // It ended by itself.
      if (!(error instanceof RestError)) throw error;
    }
  }

  async #delete(name: string): Promise<void> {
    try {
      await this.#engine.call({ method: 'DELETE', path: `/containers/${name}?force=true&timeout=0&v=true` });
    } catch (error) {
      if (!(error instanceof RestError && error.status === 404)) throw translated(error);
    }
  }

  /** Rules of an end that was cut off; and the bridge, after the last one. */
  async #tidyNetwork(engineId: string): Promise<void> {
    await removePortRules(engineId);
    const all = await this.#engine.catalog.all();
    if (all.some(({ listed }) => listed.sharing?.network === 'pod')) return;
    await removeNetwork(this.#engine.parts.layout);
  }
}
