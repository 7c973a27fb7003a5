import { stat } from 'node:fs/promises';
import type { MachineMemories, MemoryObservation } from '@sheaf/ports';
import { checkId } from './directory-layout.ts';
import type { MemoryRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { isMissing, removeDurably, syncDirectory, syncFile } from './durable-files.ts';
import { conflict, notFound } from './refusals.ts';
import type { SpaceLedger } from './space-ledger.ts';

/** The memory of machines, a file each beside the layers of their disks. */
export class LocalMemories implements MachineMemories {
  readonly #disk: DiskState;
  readonly #ledger: SpaceLedger;

  constructor(disk: DiskState, ledger: SpaceLedger) {
    this.#disk = disk;
    this.#ledger = ledger;
  }

  async list(signal: AbortSignal): Promise<readonly MemoryObservation[]> {
    signal.throwIfAborted();
    const found: MemoryObservation[] = [];
    for (const record of this.#disk.memories.all())
      if (record.state !== 'removing') found.push(await this.#observe(record, record.state));
    return found;
  }

  async prepare(
    { id, title, bytes }: { readonly id: string; readonly title: string; readonly bytes: number },
    signal: AbortSignal,
  ): Promise<MemoryObservation> {
    checkId(id);
    signal.throwIfAborted();
    return this.#disk.serial.run(async () => {
      const { memories } = this.#disk;
      const known = memories.get(id);
      if (known?.state === 'removing') throw conflict(`the memory of ${title} is being removed`);
      if (known) return this.#observe(known, known.state);
      const need = { promisedBytes: bytes, takenBytes: bytes };
      const room = await this.#ledger.hold(`keeping the memory of ${title}`, need);
      try {
        return await this.#observe(await memories.put({ id, title, bytes, state: 'prepared' }), 'prepared');
      } finally {
        room.dispose();
      }
    });
  }

  async keep(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { memories, layout, serial } = this.#disk;
    const record = memories.get(id);
    if (record?.state === 'kept') return;
    if (!record) throw notFound(`there is no room for the memory ${id}; prepare it first`);
    // Gigabytes take their time, and nobody else is to wait for them.
    await syncFile(layout.memory(id)).catch((error: unknown) => {
      throw isMissing(error) ? notFound(`nothing has been written to the memory of ${record.title}`) : error;
    });
    await syncDirectory(layout.memories);
    await serial.run(async () => {
      const now = memories.get(id);
      if (now?.state === 'prepared') await memories.put({ ...now, state: 'kept' });
    });
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#disk.serial.run(async () => {
      const record = this.#disk.memories.get(id);
      if (!record) return;
      if (record.state !== 'removing') await this.#disk.memories.markRemoving(record);
      await removeMemory(this.#disk, id);
    });
  }

  async #observe({ id, title }: MemoryRecord, state: MemoryObservation['state']): Promise<MemoryObservation> {
    return {
      id,
      title,
      state,
      path: this.#disk.layout.memory(id),
      allocatedBytes: await takenBy(this.#disk, id),
    };
  }
}

/** Ends a removal, also one of an earlier life: the files, then the record. */
export async function removeMemory({ layout, memories }: DiskState, id: string): Promise<void> {
  await removeDurably(filesOf(layout.memory(id)));
  await memories.delete(id);
}

/** What memories are promised, and what they take of it. */
export async function countMemories(
  disk: DiskState,
): Promise<{ readonly promisedBytes: number; readonly takenBytes: number }> {
  let [promisedBytes, takenBytes] = [0, 0];
  for (const { id, bytes, state } of disk.memories.all()) {
    const taken = await takenBy(disk, id);
    takenBytes += taken;
    promisedBytes += state === 'prepared' ? Math.max(bytes, taken) : taken;
  }
  return { promisedBytes, takenBytes };
}

async function takenBy({ layout }: DiskState, id: string): Promise<number> {
  let taken = 0;
  for (const path of filesOf(layout.memory(id))) taken += await allocated(path);
  return taken;
}

/** While it is written it has another name. */
function filesOf(path: string): string[] {
  return [path, `${path}.part`];
}

async function allocated(path: string): Promise<number> {
  try {
    return (await stat(path)).blocks * 512;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
