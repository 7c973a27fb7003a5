import { isJsonObject } from '@sheaf/base';
import type { KubeObject } from '../../meta/object.ts';

/** Asked of a snapshot of a machine, and of a restore from it: with what the machine has in its memory. `"true"` or `"false"`. */
export const withMemoryAnnotation = 'sheaf.dev/memory';

/**
 * On a machine: its next start goes on with this memory. On an instance: it was made for that start. The machine says which instance
 * has been given the memory before that has its process, and then asks no more: no other goes on with it after that one has written.
 */
export const startFromMemoryAnnotation = 'sheaf.dev/start-from-memory';
/** On a machine: the UID of the instance that was given the memory. */
export const givenMemoryAnnotation = 'sheaf.dev/memory-given-to';

/** What a start is to go on with. */
export interface MemoryStart {
  /** Under which name the memory is kept: the UID of its snapshot. */
  readonly memoryId: string;
  /** The claims that hold what the disks had at that moment, in the order of their names. */
  readonly claims: readonly string[];
}

export function memoryStartText({ memoryId, claims }: MemoryStart): string {
  return JSON.stringify({ memoryId, claims: claims.toSorted() });
}

/** `undefined` where nothing is asked for, or nothing that can be understood. */
export function memoryStartOf({ metadata }: Pick<KubeObject, 'metadata'>): MemoryStart | undefined {
  const text = metadata.annotations?.[startFromMemoryAnnotation];
  const found = text === undefined ? undefined : parsed(text);
  if (!isJsonObject(found)) return undefined;
  const { memoryId, claims } = found;
  if (typeof memoryId !== 'string' || !Array.isArray(claims)) return undefined;
  return { memoryId, claims: claims.filter((name) => typeof name === 'string') };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
