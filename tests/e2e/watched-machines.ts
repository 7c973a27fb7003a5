import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';

type TypeOf<R> = R extends ResourceRef<infer T> ? T : never;

/** What a client sees that watches all machines of one life of Sheaf: what there is, and all that there has been. */
export class WatchedMachines {
  readonly machines = new Map<string, TypeOf<typeof resources.virtualMachines>>();
  readonly instances = new Map<string, TypeOf<typeof resources.virtualMachineInstances>>();
  /** The UIDs of all instances, by their names. */
  readonly made = new Map<string, Set<string>>();
  readonly #stop = new AbortController();
  readonly #over: Promise<unknown>;

  constructor(client: Client) {
    this.#over = Promise.all([
      this.#follow(client, resources.virtualMachines, this.machines),
      this.#follow(client, resources.virtualMachineInstances, this.instances),
    ]);
    // Whoever stops it hears of what broke it.
    this.#over.catch(() => undefined);
  }

  /** @throws what has broken a watch before */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('enough has been seen'));
    await this.#over;
  }

  async #follow<T extends KubeObject>(
    client: Client,
    resource: ResourceRef<T>,
    known: Map<string, T>,
  ): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const { type, object } of client.watch(resource, { signal })) {
        const { name = '', uid = '' } = object.metadata;
        if (type === 'DELETED') known.delete(name);
        else if (type !== 'BOOKMARK') known.set(name, object);
        if (resource.kind === 'VirtualMachineInstance') this.#count(name, uid);
      }
    } catch (error) {
      if (!signal.aborted || StatusError.is(error)) throw error;
    }
  }

  #count(name: string, uid: string): void {
    this.made.set(name, (this.made.get(name) ?? new Set()).add(uid));
  }
}
