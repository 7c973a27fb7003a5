import type { KubeObject } from '@sheaf/api';
import { type Client, resources } from '@sheaf/client';
import type { Hypervisor, MachineMemories } from '@sheaf/ports';
import { hasMemory } from './kept-memory.ts';

export interface MemorySweepParts {
  readonly client: Client;
  readonly memories: Pick<MachineMemories, 'list' | 'remove'>;
  readonly hypervisor: Pick<Hypervisor, 'list'>;
}

/**
 * Removes the memory of machines that no snapshot accounts for any more. Snapshots are asked for after it: none has come before its
 * own. What may still be written to stays until it is not. Resolves to false where something is left.
 */
export async function sweepMemories(
  { client, memories, hypervisor }: MemorySweepParts,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await memories.list(signal);
  if (found.length === 0) return true;
  const { items } = await client.list<KubeObject>(resources.virtualMachineBackups, { signal });
  const owners = new Set(items.filter(hasMemory).map(({ metadata }) => metadata.uid));
  const orphans = found.filter(({ id }) => !owners.has(id));
  if (orphans.length === 0) return true;
  const isBusy = (await hypervisor.list(signal)).some(({ isMemoryBeingKept }) => isMemoryBeingKept);
  const removable = orphans.filter(({ state }) => state === 'kept' || !isBusy);
  for (const { id } of removable) await memories.remove(id, signal);
  return removable.length === orphans.length;
}
