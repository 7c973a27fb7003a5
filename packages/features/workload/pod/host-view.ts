import type { ContainerObservation, Containers, SandboxObservation } from '@sheaf/ports';

export interface HostState {
  readonly sandboxes: readonly SandboxObservation[];
  readonly containers: readonly ContainerObservation[];
}

/**
 * What runs on the host, looked at anew for everybody who asks; those who ask while somebody is looking share the next look,
 * which begins after they asked.
 */
export class HostView {
  readonly #containers: Containers;
  #next: Promise<HostState> | undefined;
  #current: Promise<unknown> = Promise.resolve();

  constructor(containers: Containers) {
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
