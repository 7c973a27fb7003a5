import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Logger, toError } from '@sheaf/base';
import type { BundleIndex, LoadedBundle } from '@sheaf/ports';
import { removeDurably, writeDurably } from '../local-disk/durable-files.ts';
import { bundleId, indexText, readIndex } from './bundle-index.ts';

const namePattern = /^([0-9a-f]{16})\.json$/;

/** Which bundles are loaded: a file for each, there when all of it has been stored. */
export class BundleRecords {
  readonly #directory: string;
  readonly #loaded = new Map<string, LoadedBundle>();

  /** Reads what is there; a record that cannot be read is told and counts as not loaded. */
  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    for (const [name, id = ''] of recordNames(directory)) {
      try {
        this.#loaded.set(id, readRecord(id, readFileSync(join(directory, name), 'utf8')));
      } catch (error) {
        const wayOut = 'load the bundle again';
        logger.warn('the record of a bundle cannot be read', { name, wayOut, error: toError(error) });
      }
    }
  }

  /** The first loaded first. */
  list(): readonly LoadedBundle[] {
    return [...this.#loaded.values()].toSorted((a, b) => a.loadedAt - b.loadedAt || (a.id < b.id ? -1 : 1));
  }

  find(id: string): LoadedBundle | undefined {
    return this.#loaded.get(id);
  }

  async add(index: BundleIndex, loadedAt: number): Promise<void> {
    const id = bundleId(index);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeDurably(this.#pathOf(id), JSON.stringify({ loadedAt, index: indexText(index) }));
    this.#loaded.set(id, { ...index, id, loadedAt });
  }

  async remove(id: string): Promise<void> {
    await removeDurably([this.#pathOf(id)]);
    this.#loaded.delete(id);
  }

  #pathOf(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}

function recordNames(directory: string): readonly RegExpExecArray[] {
  try {
    return readdirSync(directory)
      .map((name) => namePattern.exec(name))
      .filter((found) => found !== null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readRecord(id: string, text: string): LoadedBundle {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value) || typeof value['index'] !== 'string') throw new Error('it holds no index');
  const index = readIndex(value['index']);
  if (bundleId(index) !== id) throw new Error('it is of another bundle');
  return { ...index, id, loadedAt: Number(value['loadedAt']) };
}
