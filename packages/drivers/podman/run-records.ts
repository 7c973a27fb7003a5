import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the engine does not remember about a start. */
export interface RunRecord {
  /** The boot of the host in which it was to be started. */
  readonly bootId: string;
  /** Why it never will be. */
  readonly failure?: string;
}

/** One small file for each sandbox or container whose start was begun. */
export class RunRecords {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(name: string): Promise<RunRecord | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(name), 'utf8')) as RunRecord;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(name: string, record: RunRecord): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const next = `${this.#path(name)}.new`;
    await writeFile(next, JSON.stringify(record));
    await rename(next, this.#path(name));
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  async names(): Promise<readonly string[]> {
    return (await readdir(this.#directory)).filter((name) => !name.endsWith('.new'));
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}
