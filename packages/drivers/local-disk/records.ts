import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toError } from '@sheaf/base';
import { isFull, removeDurably, syncDirectory, writeDurably } from './durable-files.ts';
import { diskFull } from './refusals.ts';

interface Removable {
  readonly id: string;
  readonly state: string;
}

const suffix = '.json';
const removingSuffix = '.json.removing';

/** One JSON file for each object of a kind. What is in memory is what is on disk: it is written first. */
export class RecordFolder<T extends Removable> {
  readonly #directory: string;
  readonly #records = new Map<string, T>();

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws Error when a file cannot be understood: what it owns is then not known, so nothing may be touched */
  static async open<T extends Removable>(directory: string): Promise<RecordFolder<T>> {
    const folder = new RecordFolder<T>(directory);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(directory)) await folder.#load(name);
    return folder;
  }

  get(id: string): T | undefined {
    return this.#records.get(id);
  }

  all(): T[] {
    return [...this.#records.values()];
  }

  /** Durable when it resolves. @throws StatusError when the disk is full */
  async put(record: T): Promise<T> {
    const path = this.path(record.id);
    try {
      await writeDurably(path, `${JSON.stringify({ version: 1, ...record }, undefined, 2)}\n`);
    } catch (error) {
      await rm(`${path}.new`, { force: true });
      throw isFull(error) ? diskFull(error) : error;
    }
    this.#records.set(record.id, record);
    return record;
  }

  /** From now on it is being removed, also in the next life. Needs no room on the disk. */
  async markRemoving(record: T): Promise<void> {
    await rename(this.path(record.id), this.#removingPath(record.id));
    await syncDirectory(this.#directory);
    this.#records.set(record.id, { ...record, state: 'removing' });
  }

  async delete(id: string): Promise<void> {
    await removeDurably([this.path(id), this.#removingPath(id)]);
    this.#records.delete(id);
  }

  path(id: string): string {
    return join(this.#directory, `${id}${suffix}`);
  }

  #removingPath(id: string): string {
    return join(this.#directory, `${id}${removingSuffix}`);
  }

  async #load(name: string): Promise<void> {
    const path = join(this.#directory, name);
    if (name.endsWith(`${suffix}.new`)) return rm(path);
    const ending = [suffix, removingSuffix].find((item) => name.endsWith(item));
    if (ending === undefined) return;
    const id = name.slice(0, -ending.length);
    try {
      const { version, ...record } = JSON.parse(await readFile(path, 'utf8')) as T & { version: number };
      if (version !== 1 || record.id !== id) throw new Error(`version ${version} of "${record.id}"`);
      const state = ending === suffix ? record.state : 'removing';
      this.#records.set(id, { ...record, state } as unknown as T);
    } catch (error) {
      throw new Error(
        `${path} cannot be read: ${toError(error).message}; put it back from a backup, or move it away to give up what it describes`,
        { cause: error },
      );
    }
  }
}
