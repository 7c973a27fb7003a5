import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { DirectoryLayout } from './directory-layout.ts';
import { isMissing, removeDurably } from './durable-files.ts';
import type { LayerGraph } from './layer-graph.ts';
import { headerBytes, type Qcow2Header, readQcow2Header } from './qcow2-header.ts';

export interface LayerState {
  readonly virtualBytes: number;
  readonly allocatedBytes: number;
  readonly inode: number;
  readonly backing?: string;
}

/** The files that hold data. Only this process changes which lies on which; how large they are, running machines change too. */
export class LayerFiles {
  readonly #layout: DirectoryLayout;
  readonly #graph = new Map<string, string | undefined>();

  constructor(layout: DirectoryLayout) {
    this.#layout = layout;
  }

  /** Reads all of them. */
  async load(): Promise<void> {
    for (const name of await this.#layout.names(this.#layout.layers)) await this.refresh(name);
  }

  get graph(): LayerGraph {
    return this.#graph;
  }

  /** Looks again at what a file lies on. */
  async refresh(name: string): Promise<void> {
    const state = await this.find(name);
    if (state) this.#graph.set(name, state.backing);
    else this.#graph.delete(name);
  }

  /** @throws Error when it is not there */
  async get(name: string): Promise<LayerState> {
    const state = await this.find(name);
    if (!state) throw new Error(`the file ${this.path(name)} is missing; put it back from a backup`);
    return state;
  }

  async find(name: string): Promise<LayerState | undefined> {
    try {
      const { size, blocks, ino } = await stat(this.path(name));
      const header = formatOf(name) === 'qcow2' ? await this.#header(name) : undefined;
      return {
        virtualBytes: header?.virtualBytes ?? size,
        allocatedBytes: blocks * 512,
        inode: ino,
        ...(header?.backingFile === undefined ? {} : { backing: header.backingFile }),
      };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** The file is there, sound or not. */
  async has(name: string): Promise<boolean> {
    return (await stat(this.path(name)).catch(ignoreMissing)) !== undefined;
  }

  /** Bytes on the medium of those that are there. */
  async allocated(names: Iterable<string>): Promise<number> {
    let sum = 0;
    for (const name of names) {
      const state = await stat(this.path(name)).catch(ignoreMissing);
      sum += (state?.blocks ?? 0) * 512;
    }
    return sum;
  }

  /** Nothing has been written to it since it was made: all that it shows is in its backing file. */
  async isUntouched(name: string): Promise<boolean> {
    const header = await this.#header(name);
    if (!header) return false;
    const file = await open(this.path(name));
    try {
      const table = Buffer.alloc(header.tableBytes);
      await file.read(table, 0, table.length, header.tableOffset);
      return table.every((byte) => byte === 0);
    } finally {
      await file.close();
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await removeDurably(names.map((name) => this.path(name)));
    for (const name of names) this.#graph.delete(name);
  }

  /** `undefined`: it is none of them. */
  nameOf(path: string): string | undefined {
    const name = basename(path);
    return this.path(name) === path ? name : undefined;
  }

  path(name: string): string {
    return this.#layout.layer(name);
  }

  async #header(name: string): Promise<Qcow2Header | undefined> {
    const file = await open(this.path(name));
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
      return readQcow2Header(buffer.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  }
}

/** Layers are named for their format. */
export function formatOf(name: string): 'qcow2' | 'raw' {
  return name.endsWith('.raw') ? 'raw' : 'qcow2';
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
