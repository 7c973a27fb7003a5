import type { KubeObject } from '@sheaf/api';
import type { Pod, PodStatus, PodTemplateSpec } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock, type TestServer } from '@sheaf/testkit';

export const labels = { app: 'web' };

export function template(image = 'web:1', extra: Partial<PodTemplateSpec['spec']> = {}): PodTemplateSpec {
  return { metadata: { labels }, spec: { containers: [{ name: 'web', image }], ...extra } };
}

/** What a node makes of a pod that is to run; `undefined` leaves it as it is. */
export type Fate = (pod: Pod) => PodStatus | undefined;

export const runs: Fate = () => ({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
export const succeeds: Fate = () => ({ phase: 'Succeeded' });
export const fails: Fate = () => ({ phase: 'Failed' });
export const waits: Fate = () => undefined;

/** A server with the controllers under test, and a node that decides at once what becomes of each pod. */
export class WorkloadWorld {
  readonly clock = new TestClock();
  readonly manager: Manager;
  readonly client: Client;
  fate: Fate = runs;
  /** Pods that are deleted are gone at once. */
  isLettingGo = true;
  readonly #server: TestServer;
  readonly #nodeStops = new AbortController();
  readonly #node: Manager;

  private constructor(server: TestServer, clock: TestClock, register: (manager: Manager) => void) {
    this.clock = clock;
    this.#server = server;
    this.client = server.client;
    this.manager = managerOf(server.client, clock);
    register(this.manager);
    this.#node = managerOf(server.clientAs({ name: 'node', groups: ['system:masters'] }), clock);
    const pods = this.#node.informer(resources.pods);
    this.#node
      .controller({
        name: 'node',
        reconcile: async (key) => {
          const pod = pods.cache.get(key);
          if (pod) await this.#live(pod);
          return { outcome: 'done' };
        },
      })
      .watch(pods);
  }

  static async run(
    register: (manager: Manager) => void,
    use: (world: WorkloadWorld) => Promise<void>,
  ): Promise<void> {
    const clock = new TestClock();
    const server = await startTestServer({ clock });
    await server.client.create(resources.namespaces, { metadata: { name: 'default' } });
    await server.client.create(resources.serviceAccounts, {
      metadata: { namespace: 'default', name: 'default' },
    });
    const world = new WorkloadWorld(server, clock, register);
    void world.manager.start();
    void world.#node.start();
    try {
      await use(world);
    } finally {
      await world.stop();
    }
  }

  async stop(): Promise<void> {
    this.#nodeStops.abort();
    await this.manager.stop();
    await this.#node.stop();
    await this.#server.close();
  }

  async create<T extends KubeObject>(
    resource: ResourceRef<T>,
    name: string,
    object: Omit<T, 'metadata'>,
  ): Promise<T> {
    return this.client.create(resource, {
      ...object,
      metadata: { namespace: 'default', name },
    } as unknown as T);
  }

  get<T extends KubeObject>(resource: ResourceRef<T>, name: string): Promise<T> {
    return this.client.get(resource, { namespace: 'default', name });
  }

  /** By name. */
  async pods(): Promise<Pod[]> {
    const { items } = await this.client.list(resources.pods, { namespace: 'default' });
    return items.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  }

  /** Changes it as a user does. */
  async change<T extends KubeObject>(resource: ResourceRef<T>, name: string, body: object): Promise<T> {
    return this.client.patch(
      resource,
      { namespace: 'default', name },
      { type: 'merge', body: body as never },
    );
  }

  async setStatus(pod: Pod, status: PodStatus): Promise<void> {
    await this.client.updateStatus(resources.pods, { ...pod, status });
  }

  async until(claim: () => Promise<boolean> | boolean, limitMs = 600_000): Promise<void> {
    await settle({ clock: this.clock, until: claim, limitMs });
  }

  async #live(pod: Pod): Promise<void> {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (this.isLettingGo)
        await this.client.delete(resources.pods, { namespace, name }, { gracePeriodSeconds: 0, uid });
      return;
    }
    const isNew = pod.status?.phase === undefined || pod.status.phase === 'Pending';
    const status = isNew ? this.fate(pod) : undefined;
    if (status) await this.setStatus(pod, status);
  }
}

function managerOf(client: Client, clock: TestClock): Manager {
  return new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
}
