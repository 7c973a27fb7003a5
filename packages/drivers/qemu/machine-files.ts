import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import type { MachineEnd, MachineSpec, MemoryOrder } from '@sheaf/ports';
import type { PodForward } from './pod-network.ts';
import { type ProcessIdentity, parseIdentity } from './process-identity.ts';
import { TaskQueue } from './task-queue.ts';

/** What is written down before anything is launched. */
export interface MachineRecord {
  readonly spec: MachineSpec;
  readonly accelerator: 'kvm' | 'tcg';
  readonly program: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly bootId: string;
}

/** What is learned while it runs and must outlive this process. */
export interface MachineNotes {
  readonly guestResets: number;
  /** Device ids that the guest has been asked to let go of. */
  readonly leaving: readonly string[];
  /** The ways into cards whose pod network is a process of its own, by the name of the card. */
  readonly podNetworks?: Readonly<Record<string, readonly PodForward[]>>;
  /** Its memory is being kept: whatever stands because of that is to go on. */
  readonly memoryOrder?: MemoryOrder | undefined;
}

const noNotes: MachineNotes = { guestResets: 0, leaving: [] };

/** The directory of one machine. Files that are read again are written whole or not at all. */
export class MachineFiles {
  readonly directory: string;
  readonly #noting = new TaskQueue();
  #record: { readonly stamp: string; readonly value: MachineRecord } | undefined;

  constructor(directory: string) {
    this.directory = directory;
  }

  path(name: string): string {
    return `${this.directory}/${name}`;
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  async readRecord(): Promise<MachineRecord | undefined> {
    const stamp = stampOf(this.path('machine.json'));
    if (stamp === undefined) return undefined;
    if (stamp === this.#record?.stamp) return this.#record.value;
    const value = this.#readJson('machine.json') as MachineRecord | undefined;
    this.#record = value && { stamp, value };
    return value;
  }

  async writeRecord(record: MachineRecord): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await this.#write('machine.json', record);
  }

  /** Who was launched under a name; `undefined` if nothing was. */
  async readProcess(name: string): Promise<ProcessIdentity | undefined> {
    return parseIdentity(readIfThere(this.path(`${name}.process`)) ?? '');
  }

  /** True once the program has answered: it did not fail to start. */
  async wasReady(): Promise<boolean> {
    return readIfThere(this.path('ready')) !== undefined;
  }

  /** Not made safe from a crash of the host: no machine outlives that. */
  async markReady(): Promise<void> {
    await writeFile(this.path('ready'), 'true', { mode: 0o600 });
  }

  async readEnd(): Promise<MachineEnd | undefined> {
    return this.#readJson('end.json') as MachineEnd | undefined;
  }

  /** Writes the cause down unless there is one; resolves to the one that holds. */
  async recordEnd(end: MachineEnd): Promise<MachineEnd> {
    const temporary = await this.#writeNew('end.json', end);
    try {
      await link(temporary, this.path('end.json'));
      return end;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return (await this.readEnd()) ?? end;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async readNotes(): Promise<MachineNotes> {
    return (this.#readJson('notes.json') as MachineNotes | undefined) ?? noNotes;
  }

  /** Changes follow one another. */
  async updateNotes(change: (notes: MachineNotes) => MachineNotes): Promise<void> {
    await this.#noting.run(async () => this.#write('notes.json', change(await this.readNotes())));
  }

  /** The last words in a log; empty if there are none. */
  async lastWords(name: string): Promise<string> {
    const text = readIfThere(this.path(`${name}.log`)) ?? '';
    return text.slice(-2000).trim().split('\n').slice(-5).join('\n');
  }

  async #write(name: string, value: unknown): Promise<void> {
    await rename(await this.#writeNew(name, value), this.path(name));
  }

  async #writeNew(name: string, value: unknown): Promise<string> {
    // Several lives may write at the same time, also within one process.
    const temporary = this.path(`${name}.${randomUUID()}.new`);
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(value));
      await file.sync();
    } finally {
      await file.close();
    }
    return temporary;
  }

  #readJson(name: string): unknown {
    const text = readIfThere(this.path(name));
    return text === undefined ? undefined : JSON.parse(text);
  }
}

/** At once: they are short, and a turn of the thread pool for each costs ten times what the read does. */
function readIfThere(path: string): string | undefined {
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Another stamp: another file. One that is written whole gets a new number. */
function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
}
