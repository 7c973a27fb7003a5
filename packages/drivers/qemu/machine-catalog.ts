import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StatusError } from '@sheaf/base';
import type { MachineHost } from './host.ts';
import { Machine } from './machine.ts';
import { MachineFiles } from './machine-files.ts';

/** Also the name of a directory. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** All machines of one directory, each with one object in this process. */
export class MachineCatalog {
  readonly #directory: string;
  readonly #host: MachineHost;
  readonly #machines = new Map<string, Machine>();

  constructor(directory: string, host: MachineHost) {
    this.#directory = directory;
    this.#host = host;
  }

  /** Makes the directories, and ends what an earlier life was about to remove. */
  async prepare(): Promise<void> {
    await mkdir(this.#path('machines'), { recursive: true, mode: 0o700 });
    await mkdir(this.#path('persistent'), { recursive: true, mode: 0o700 });
    await rm(this.#path('removed'), { recursive: true, force: true });
  }

  /** Those that are there, also of earlier lives. */
  async all(): Promise<Machine[]> {
    const names = await readdir(this.#path('machines'));
    return names
      .filter((name) => idPattern.test(name))
      .toSorted()
      .map((id) => this.get(id));
  }

  /** `undefined` where nothing is. */
  find(id: string): Machine | undefined {
    this.#check(id);
    const isThere = this.#machines.has(id) || existsSync(join(this.#path('machines'), id));
    return isThere ? this.get(id) : undefined;
  }

  get(id: string): Machine {
    this.#check(id);
    let machine = this.#machines.get(id);
    if (!machine) {
      const files = new MachineFiles(join(this.#path('machines'), id));
      machine = new Machine(id, { files, host: this.#host });
      this.#machines.set(id, machine);
    }
    return machine;
  }

  #check(id: string): void {
    if (!idPattern.test(id))
      throw new StatusError({
        reason: 'BadRequest',
        message: `${JSON.stringify(id)} cannot be the id of a machine: use letters, digits, dots, dashes and underscores`,
      });
  }

  /** Removes a machine that has ended: at once for every observer, whatever happens while its files go. */
  async remove(machine: Machine): Promise<void> {
    await machine.release();
    this.#machines.delete(machine.id);
    const removed = join(this.#path('removed'), `${machine.id}-${this.#host.random.uuid()}`);
    await mkdir(this.#path('removed'), { recursive: true, mode: 0o700 });
    try {
      await rename(machine.files.directory, removed);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    await rm(removed, { recursive: true, force: true });
  }

  dispose(): void {
    for (const machine of this.#machines.values()) machine.dispose();
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}
