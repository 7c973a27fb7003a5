import { setTimeout as pause } from 'node:timers/promises';
import { resources } from '@sheaf/client';
import { type AddonHost, namespace } from '../../addons/addon-host.ts';
import { type OperationPart, operationProcesses } from './operation-processes.ts';

export type Victim = 'sheaf' | 'helm' | 'pod';

export const victims: readonly Victim[] = ['sheaf', 'helm', 'pod'];

const lookMs = 2;

export interface Shot {
  readonly victim: Victim;
  /** Which of the ways to end a pod. */
  readonly way: number;
  /** Nothing is hit any more. */
  readonly isOver: () => boolean;
}

/** Ends the victim as soon as there is one; what was hit, or nothing if there was none before the end. */
export async function shoot(host: AddonHost, { victim, way, isOver }: Shot): Promise<string | undefined> {
  if (victim === 'sheaf') {
    await host.kill();
    return 'sheaf';
  }
  const parts = victim === 'helm' ? ['helm'] : podWays[way % podWays.length];
  if (!parts) return undefined;
  for (;;) {
    const hit =
      parts.length === 0 ? await deletePod(host) : await killParts(host, parts as readonly OperationPart[]);
    if (hit) return parts.length === 0 ? 'pod deleted' : parts.join(' and ');
    if (isOver()) return undefined;
    await pause(lookMs);
  }
}

/** Its first process, what watches over it, everything of it at once; none: the object, by force. */
const podWays: readonly (readonly OperationPart[])[] = [
  ['runner'],
  ['watcher'],
  ['watcher', 'runner', 'helm'],
  [],
];

async function killParts(host: AddonHost, parts: readonly OperationPart[]): Promise<boolean> {
  const found = (await operationProcesses(host.directory)).filter(({ part }) => parts.includes(part));
  if (!found.some(({ part }) => part === parts[0])) return false;
  for (const { id } of found)
    try {
      process.kill(id, 'SIGKILL');
    } catch (error) {
      // It has just ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  return true;
}

async function deletePod({ client }: AddonHost): Promise<boolean> {
  const { items } = await client.list(resources.pods, {
    namespace,
    labelSelector: 'helmcharts.helm.cattle.io/chart',
  });
  const found = items.find(({ status }) => status?.phase === 'Pending' || status?.phase === 'Running');
  if (!found) return false;
  const { name = '', uid = '' } = found.metadata;
  try {
    await client.delete(resources.pods, { namespace, name }, { uid, gracePeriodSeconds: 0 });
    return true;
  } catch {
    // It has just gone by itself.
    return false;
  }
}
