import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyedQueue } from './keyed-queue.ts';

/** What the engine does not remember about a start. */
export interface RunRecord {
  /** The boot of the host in which it was to be started. */
  readonly bootId: string;
  /** Why it never will be. */
  readonly failure?: string;
  /** The kernel said that it ended it for want of memory, which the kernel forgets. */
  readonly isOutOfMemory?: true;
}

/** Of a record that is being written; no sandbox or container is called so. */
const unfinished = '.next';

/** One small file for each sandbox or container whose start was begun. One process at a time has the directory. */
export class RunRecords {
  readonly #directory: string;
  /** Whoever looks at a container notes what is seen of it, many at once. */
  readonly #queue = new KeyedQueue();
  /** What is in the files. */
  readonly #known = new Map<string, RunRecord>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(name: string): Promise<RunRecord | undefined> {
    return this.#known.get(name) ?? (await this.#queue.run(name, () => this.#read(name)));
  }

  async #read(name: string): Promise<RunRecord | undefined> {
    try {
      const record = JSON.parse(await readFile(this.#path(name), 'utf8')) as RunRecord;
      this.#known.set(name, record);
      return record;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(name: string, record: RunRecord): Promise<void> {
    await this.#queue.run(name, () => this.#write(name, record));
  }

  /** Nothing is written about what has been removed. */
  async add(name: string, facts: Partial<RunRecord>): Promise<void> {
    await this.#queue.run(name, async () => {
      const found = await this.#read(name);
      if (found) await this.#write(name, { ...found, ...facts });
    });
  }

  async remove(name: string): Promise<void> {
    await this.#queue.run(name, async () => {
      this.#known.delete(name);
      await rm(this.#path(name), { force: true });
    });
  }

  /** Those of writes that were cut off, too. */
  async names(): Promise<readonly string[]> {
    return await readdir(this.#directory);
  }

  async #write(name: string, record: RunRecord): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const next = join(this.#directory, `${unfinished}-${name}`);
    await writeFile(next, JSON.stringify(record));
    await rename(next, this.#path(name));
    this.#known.set(name, record);
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}
