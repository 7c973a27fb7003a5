import { type Clock, type Logger, toError } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import type { Hypervisor, MachineFiles, MachineObservation } from '@sheaf/ports';
import { again, type ReconcileResult } from '@sheaf/runtime';
import { instanceResource } from './vm-resources.ts';

export interface SweepParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hypervisor: Hypervisor;
  readonly files: MachineFiles;
}

export interface SweepFacts {
  readonly machines: readonly MachineObservation[];
  /** The machines that have files. */
  readonly fileOwners: readonly string[];
  /** The UIDs of all instances; read after the two others, so that none is missing that had made something by then. */
  readonly instances: ReadonlySet<string>;
  /** Since when machines have been nobody's. */
  readonly since: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

export type SweepStep =
  | { readonly action: 'shut-down' | 'end' | 'forget'; readonly id: string; readonly title: string }
  | { readonly action: 'remove-files'; readonly id: string };

const sweepMs = 60_000;
/** A guest that nobody owns gets so long to shut down. */
const graceMs = 300_000;

/**
 * What to do about machines and files whose instance is not in the API any more: its finalizers were taken away by force, or an
 * older state of the API was restored. The API is what holds; guests get the time to shut down.
 */
export function planSweep({
  machines,
  fileOwners,
  instances,
  since,
  nowMs,
}: SweepFacts): readonly SweepStep[] {
  const orphans = machines.filter(({ id }) => !instances.has(id));
  const present = new Set(machines.map(({ id }) => id));
  const files = fileOwners.filter((id) => !instances.has(id) && !present.has(id));
  return [
    ...orphans.flatMap(({ id, title, state }): SweepStep[] => {
      if (state === 'ended') return [{ action: 'forget', id, title }];
      if (nowMs - (since.get(id) ?? nowMs) >= graceMs) return [{ action: 'end', id, title }];
      return state === 'running' ? [{ action: 'shut-down', id, title }] : [];
    }),
    ...files.map((id): SweepStep => ({ action: 'remove-files', id })),
  ];
}

/** Removes what nobody owns on this host, now and then. */
export class HostSweep {
  readonly #parts: SweepParts;
  #since: ReadonlyMap<string, number> = new Map();

  constructor(parts: SweepParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<ReconcileResult> {
    const { hypervisor, files, client, clock, logger } = this.#parts;
    const [machines, fileOwners] = [await hypervisor.list(signal), await files.list(signal)];
    if (machines.length + fileOwners.length === 0) return again(sweepMs);
    const { items } = await client.list(instanceResource, { signal });
    const instances = new Set(items.map(({ metadata }) => metadata.uid ?? ''));
    const nowMs = clock.now();
    const orphans = machines.filter(({ id }) => !instances.has(id));
    this.#since = new Map(orphans.map(({ id }) => [id, this.#since.get(id) ?? nowMs]));
    const steps = planSweep({ machines, fileOwners, instances, since: this.#since, nowMs });
    for (const step of steps) {
      logger.warn('a machine or its files belong to no instance', { ...step });
      // One that cannot be helped does not keep the others from it.
      await this.#take(step, signal).catch((error: unknown) =>
        logger.warn('what belongs to no instance could not be removed', { ...step, cause: toError(error) }),
      );
    }
    return again(sweepMs);
  }

  async #take({ action, id }: SweepStep, signal: AbortSignal): Promise<void> {
    const { hypervisor, files } = this.#parts;
    switch (action) {
      case 'shut-down':
        return hypervisor.pressPowerButton(id, signal);
      case 'end':
        return hypervisor.end(id, signal);
      case 'forget':
        return hypervisor.forget(id, signal);
      case 'remove-files':
        return files.remove(id, signal);
    }
  }
}
