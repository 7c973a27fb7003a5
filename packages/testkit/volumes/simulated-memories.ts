import type { MachineMemories, MemoryObservation } from '@sheaf/ports';
import type { SimulatedLife } from './simulated-life.ts';
import type { SimulatedMedium, SimulatedMemoryFile } from './simulated-medium.ts';
import { checkId, noRoom, notFound } from './simulated-refusals.ts';

type Order = Parameters<MachineMemories['prepare']>[0];

/** Memories of machines on a simulated medium. Every call is one step. */
export class SimulatedMachineMemories implements MachineMemories {
  readonly #life: SimulatedLife;
  readonly #medium: SimulatedMedium;
  readonly #overCommitment: number;

  constructor(parts: { life: SimulatedLife; medium: SimulatedMedium; overCommitment: number }) {
    this.#life = parts.life;
    this.#medium = parts.medium;
    this.#overCommitment = parts.overCommitment;
  }

  async list(signal: AbortSignal): Promise<readonly MemoryObservation[]> {
    await this.#enter('memories-listed', signal);
    return [...this.#medium.memories.values()].map((memory) => this.#observe(memory));
  }

  async prepare({ id, title, bytes }: Order, signal: AbortSignal): Promise<MemoryObservation> {
    checkId(id);
    await this.#enter('memory-prepared', signal);
    const known = this.#medium.memories.get(id);
    if (known) return this.#observe(known);
    const { promisableBytes, promisedBytes } = this.#medium.space(this.#overCommitment, 0);
    const left = promisableBytes - promisedBytes;
    if (bytes > left) throw noRoom(`keeping the memory of ${title}`, bytes, left);
    const memory: SimulatedMemoryFile = { id, title, bytes, state: 'prepared' };
    this.#medium.memories.set(id, memory);
    return this.#observe(memory);
  }

  async keep(id: string, signal: AbortSignal): Promise<void> {
    await this.#enter('memory-kept', signal);
    const memory = this.#medium.memories.get(id);
    if (!memory) throw notFound(`there is no room for the memory ${id}; prepare it first`);
    if (!this.#medium.files.has(this.#medium.memoryPath(id)))
      throw notFound(`nothing has been written to the memory of ${memory.title}`);
    memory.state = 'kept';
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    await this.#enter('memory-removed', signal);
    const path = this.#medium.memoryPath(id);
    for (const file of [path, `${path}.part`]) this.#medium.files.delete(file);
    this.#medium.memories.delete(id);
  }

  #observe({ id, title, state }: SimulatedMemoryFile): MemoryObservation {
    const path = this.#medium.memoryPath(id);
    return { id, title, state, path, allocatedBytes: this.#medium.memoryBytes(id) };
  }

  async #enter(label: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#life.step(label);
  }
}
