import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { badRequest } from '@sheaf/base';
import type { ContainerObservation, ContainerSpec } from '@sheaf/ports';
import { removeContainerRemains, removeSubPaths } from './container-remains.ts';
import { containerRequest, type ResolvedMount } from './container-request.ts';
import {
  containerObservation,
  isRunning,
  type SeenContainer,
  sandboxObservation,
} from './engine-containers.ts';
import { engineName, type SandboxSharing } from './engine-names.ts';
import { ensureNameFiles } from './name-files.ts';
import { lowestScore } from './out-of-memory-score.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { isStartFailure, refusals, translated } from './refusals.ts';
import { RestError } from './rest-client.ts';
import { holdSubPath } from './sub-path.ts';

interface ReadySandbox {
  readonly sharing: SandboxSharing;
  readonly addresses: readonly string[];
}

/** Makes, starts and removes containers in sandboxes. Calls for one id follow one another. */
export class ContainerRuns {
  readonly #engine: PodmanEngine;

  constructor(engine: PodmanEngine) {
    this.#engine = engine;
  }

  async find(id: string): Promise<ContainerObservation | undefined> {
    const seen = await this.#engine.catalog.find('container', id);
    return seen && containerObservation(seen);
  }

  async start(spec: ContainerSpec): Promise<ContainerObservation> {
    const seen = await this.#engine.catalog.find('container', spec.id);
    const observed = seen && containerObservation(seen);
    if (observed && observed.state !== 'starting') return observed;
    const sandbox = await this.#readySandbox(spec.sandboxId);
    if (!seen) await this.#create(spec, sandbox);
    await this.#launch(spec, seen);
    this.#engine.announce(spec.sandboxId);
    const made = await this.find(spec.id);
    if (!made) throw refusals.noContainer(spec.id);
    return made;
  }

  async remove(id: string): Promise<void> {
    const seen = await this.#engine.catalog.find('container', id);
    if (!seen) return;
    if (isRunning(seen)) throw refusals.containerRuns(id);
    await removeContainerRemains(this.#engine, seen.listed);
  }

  async #readySandbox(id: string): Promise<ReadySandbox> {
    const seen = await this.#engine.catalog.find('sandbox', id);
    const sharing = seen?.listed.sharing;
    if (!seen || !sharing) throw refusals.noSandbox(id);
    const { state, addresses } = sandboxObservation(seen);
    if (state === 'ended') throw refusals.sandboxEnded(id);
    if (state === 'starting') throw refusals.sandboxStarting(id);
    return { sharing, addresses };
  }

  async #create(spec: ContainerSpec, sandbox: ReadySandbox): Promise<void> {
    const { layout } = this.#engine.parts;
    const name = engineName('container', spec.id);
    const logs = join(layout.logs, spec.sandboxId, name);
    await mkdir(logs, { recursive: true, mode: 0o700 });
    try {
      const body = containerRequest(spec, {
        sandbox: sandbox.sharing,
        mounts: [...(await this.#nameFiles(spec, sandbox)), ...(await this.#mounts(spec))],
        logPath: join(logs, 'log'),
        lowestScore: await lowestScore(),
        ...(await this.#processOf(spec)),
      });
      await this.#engine.call({ method: 'POST', path: '/containers/create', body });
    } catch (error) {
      await removeSubPaths(this.#engine, spec.id);
      if (error instanceof RestError) await this.#requireImage(spec.imageId);
      throw translated(error);
    }
  }

  async #processOf({ processesOf: id }: ContainerSpec): Promise<{ readonly processId?: number }> {
    if (id === undefined) return {};
    const seen = await this.#engine.catalog.find('container', id);
    if (!seen || !isRunning(seen)) throw refusals.notRunning(id);
    return { processId: seen.listed.processId };
  }

  /** The engine takes a wrong id for a name, and says something else. */
  async #requireImage(imageId: string): Promise<void> {
    try {
      await this.#engine.call({ method: 'GET', path: `/images/${encodeURIComponent(imageId)}/exists` });
    } catch (error) {
      throw error instanceof RestError ? refusals.noImage(imageId) : error;
    }
  }

  async #mounts(spec: ContainerSpec): Promise<readonly ResolvedMount[]> {
    const directory = join(this.#engine.parts.layout.subPaths, engineName('container', spec.id));
    // Of an attempt that was cut off.
    await removeSubPaths(this.#engine, spec.id);
    return await Promise.all(
      spec.mounts.map(async (mount, index) => {
        await access(mount.hostPath).catch(() => {
          throw badRequest(`there is no ${mount.hostPath} on the host: make it first`);
        });
        const source =
          mount.subPath === undefined
            ? mount.hostPath
            : await holdSubPath(mount, join(directory, `${index}`));
        return { ...mount, source };
      }),
    );
  }

  /** But those for which the container has something of its own. */
  async #nameFiles(spec: ContainerSpec, sandbox: ReadySandbox): Promise<readonly ResolvedMount[]> {
    const { layout, random } = this.#engine.parts;
    const { sharing, addresses } = sandbox;
    const { sandboxId } = spec;
    if (!sharing.names) return [];
    const own = new Set(spec.mounts.map(({ containerPath }) => containerPath));
    const facts = {
      directory: layout.names,
      sandboxId,
      names: sharing.names,
      addresses,
      mark: random.uuid(),
    };
    return (await ensureNameFiles(facts))
      .filter(({ containerPath }) => !own.has(containerPath))
      .map((file) => ({
        ...file,
        source: file.hostPath,
        ...(spec.security.hasReadOnlyRoot && { isReadOnly: true }),
      }));
  }

  async #launch(spec: ContainerSpec, seen: SeenContainer | undefined): Promise<void> {
    const name = engineName('container', spec.id);
    const { records, parts } = this.#engine;
    const { bootId } = parts;
    await records.write(name, { bootId });
    try {
      await this.#engine.call({ method: 'POST', path: `/containers/${name}/start` });
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      // The one before this life may have got as far as letting it run: nobody can tell any more, so it must not run again.
      const isUnclear = seen?.listed.state === 'initialized';
      if (isStartFailure(error) || isUnclear) {
        await records.write(name, { bootId, failure: wordsOf(error) });
        return;
      }
      await removeContainerRemains(this.#engine, { id: spec.id, engineId: name });
      throw translated(error);
    }
  }
}

/** Without the programs that passed it on. */
function wordsOf({ message }: RestError): string {
  return message.replace(/^(runc|crun): (runc|crun) create failed: /, '').replace(/: OCI [^:]*$/, '');
}
