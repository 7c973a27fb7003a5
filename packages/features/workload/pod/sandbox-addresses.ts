import type { Containers } from '@sheaf/ports';

/** Where the containers of a sandbox listen: it has one address all its life, which its pod's status tells a moment later. */
export class SandboxAddresses {
  readonly #containers: Pick<Containers, 'findSandbox'>;
  readonly #known = new Map<string, string | undefined>();

  constructor(containers: Pick<Containers, 'findSandbox'>) {
    this.#containers = containers;
  }

  /** `undefined`: on the network of the host. */
  async find(sandboxId: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#known.has(sandboxId)) return this.#known.get(sandboxId);
    const sandbox = await this.#containers.findSandbox(sandboxId, signal);
    const address = sandbox?.addresses[0];
    if (sandbox?.state === 'ready') this.#known.set(sandboxId, address);
    return address;
  }

  /** Of a pod that is no more. */
  forgetPod(podUid: string): void {
    for (const id of this.#known.keys()) if (id.startsWith(`${podUid}_`)) this.#known.delete(id);
  }
}
