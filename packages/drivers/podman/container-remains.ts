import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedContainer } from './engine-containers.ts';
import { engineName } from './engine-names.ts';
import { unmountBelow } from './mounts.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { translated } from './refusals.ts';
import { RestError } from './rest-client.ts';

/** Removes what there is of a container but its log. Nothing there: nothing to do. */
export async function removeContainerRemains(
  engine: PodmanEngine,
  container: Pick<ListedContainer, 'id' | 'engineId'>,
): Promise<void> {
  const name = engineName('container', container.id);
  try {
    await engine.call({
      method: 'DELETE',
      path: `/containers/${container.engineId}?force=true&timeout=0&v=true`,
    });
  } catch (error) {
    if (!(error instanceof RestError && error.status === 404)) throw translated(error);
  }
  await removeSubPaths(engine, container.id);
  await engine.records.remove(name);
}

export async function removeSubPaths(engine: PodmanEngine, id: string): Promise<void> {
  const directory = join(engine.parts.layout.subPaths, engineName('container', id));
  await unmountBelow(directory);
  await rm(directory, { recursive: true, force: true });
}
