import type { Pod } from '@sheaf/api/workload/index';
import type { ContainerObservation, Containers, SandboxObservation } from '@sheaf/ports';

import { sandboxesOf } from './run-ids.ts';
import { runsPrograms } from './sandbox-plan.ts';

export interface HostState {
  readonly sandboxes: readonly SandboxObservation[];
  readonly containers: readonly ContainerObservation[];
}

/**
 * What runs on the host, looked at anew for everybody who asks; those who ask while somebody is looking share the next look,
 * which begins after they asked.
 */
export class HostView {
  readonly #containers: Pick<Containers, 'listSandboxes' | 'listContainers'>;
  #next: Promise<HostState> | undefined;
  #current: Promise<unknown> = Promise.resolve();

  constructor(containers: Pick<Containers, 'listSandboxes' | 'listContainers'>) {
    this.#containers = containers;
  }

  look(signal: AbortSignal): Promise<HostState> {
    this.#next ??= this.#after(this.#current, signal);
    return this.#next;
  }

  async #after(current: Promise<unknown>, signal: AbortSignal): Promise<HostState> {
    // Whoever looks now may fail; that is not our failure.
    await current.catch(() => undefined);
    const look = this.#read(signal);
    this.#current = look;
    this.#next = undefined;
    return look;
  }

  async #read(signal: AbortSignal): Promise<HostState> {
    const [sandboxes, containers] = await Promise.all([
      this.#containers.listSandboxes(signal),
      this.#containers.listContainers(signal),
    ]);
    return { sandboxes, containers };
  }
}

export interface HostViews {
  /** Of everything. */
  readonly view: HostView;
  /** Of programs of the host alone, where there can be any. */
  readonly programView: HostView | undefined;
}

/**
 * What there is on the host, as far as it can be of this pod. One of programs is looked for among them first, which takes a tenth of a
 * look at everything; as its image may have been another one, nothing is believed to be missing that was not looked for everywhere.
 */
export async function lookFor(
  { view, programView }: HostViews,
  pod: Pod,
  signal: AbortSignal,
): Promise<HostState> {
  const seen = runsPrograms(pod) ? await programView?.look(signal) : undefined;
  const isThere = seen !== undefined && sandboxesOf(pod.metadata.uid ?? '', seen.sandboxes).length > 0;
  return isThere ? seen : view.look(signal);
}
