import type { ApiExtensions, KubeObject } from '@sheaf/api';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { extend as extendDataVolumes, register as registerDataVolumes } from '@sheaf/features/data-volume';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { ensureStorage, extend as extendVolumes, register as registerVolumes } from '@sheaf/features/volume';
import {
  ensureSnapshotClasses,
  extend as extendSnapshots,
  register as registerSnapshots,
} from '@sheaf/features/volume-snapshot';
import type { Manager } from '@sheaf/runtime';
import { MemoryStore } from '@sheaf/store';
import { type NetworkFaults, noFaults, Simulation, startTestServer, type TestServer } from '@sheaf/testkit';
import {
  openSimulatedDisk,
  type SimulatedDisk,
  SimulatedMedium,
  SimulatedSources,
} from '@sheaf/testkit/volumes/index';
import { SimulatedMachines } from './simulated-machines.ts';
import { installStorageKinds } from './storage-kinds.ts';

const mebibyte = 1024 ** 2;
const url = 'http://source.test/disk.raw';
const patienceMs = 10 * 60_000;
const names = ['a', 'b', 'c'] as const;
const kinds = [
  resources.dataVolumes,
  resources.volumeSnapshots,
  resources.persistentVolumeClaims,
] as unknown as readonly ResourceRef[];
const kept = [
  ...kinds,
  resources.persistentVolumes,
  resources.volumeSnapshotContents,
] as unknown as readonly ResourceRef[];

/** Users, machines, a network and a process with faults, decided by a seed. */
export class RandomUse {
  readonly #simulation: Simulation<TestServer>;
  readonly #medium = new SimulatedMedium(1024 * mebibyte);
  readonly #sources = new SimulatedSources();
  readonly #machines = new SimulatedMachines(this.#medium);
  readonly #running = new Map<string, string>();
  #disk: SimulatedDisk | undefined;

  constructor(seed: number) {
    this.#sources.offer(url, [{ content: new Uint8Array(mebibyte).fill(1) }]);
    const store = new MemoryStore();
    const extend = (api: ApiExtensions, client: Client): void => {
      extendVolumes(api, client);
      extendSnapshots(api, client);
      extendDataVolumes(api);
    };
    this.#simulation = new Simulation({
      seed,
      open: (parts) => startTestServer({ ...parts, store, extend }),
      register: (manager) => this.#register(manager),
    });
  }

  /** What was found wrong; empty: nothing. */
  async run(): Promise<readonly string[]> {
    const simulation = this.#simulation;
    try {
      await simulation.start();
      await this.#prepare();
      simulation.restartControllers();
      simulation.setFaults(this.#faults());
      for (let count = 0; count < 25; count++) await this.#use();
      simulation.setFaults(noFaults);
      for (const name of [...this.#running.keys()]) await this.#stop(name);
      await this.#converge();
      const complaints = [...(await this.#waiting()), ...(await this.#leftOver())];
      for (const kind of kinds) await this.#client.deleteCollection(kind, { namespace: 'default' });
      await this.#converge();
      return [...complaints, ...(await this.#remaining())];
    } finally {
      await simulation.stop();
    }
  }

  get #client(): Client {
    return this.#simulation.server.client;
  }

  #register(manager: Manager): void {
    this.#disk?.crash();
    const { clock, random } = this.#simulation;
    const disk = openSimulatedDisk({ medium: this.#medium, sources: this.#sources, clock, random });
    const { volumes, images, memories } = disk;
    const hypervisor = this.#machines;
    registerVolumes(manager, { volumes, images, hypervisor });
    registerSnapshots(manager, { volumes, hypervisor, memories });
    registerDataVolumes(manager, { images });
    registerGarbageCollection(manager);
    this.#disk = disk;
  }

  async #prepare(): Promise<void> {
    await this.#client.create(resources.namespaces, { metadata: { name: 'default' } });
    await installStorageKinds(this.#client, async (claim) => {
      while (!(await claim())) await this.#simulation.step();
    });
    await ensureStorage(this.#client);
    await ensureSnapshotClasses(this.#client);
  }

  #faults(): NetworkFaults {
    const chance = (limit: number): number => (this.#pick(2) === 0 ? 0 : this.#pick(limit));
    return {
      lostRequest: chance(60),
      lostAnswer: chance(60),
      duplicated: chance(60),
      refused: chance(60),
      brokenWatch: chance(80),
      expiredWatch: chance(30),
      conflict: chance(60),
      repeatedEvent: chance(60),
    };
  }

  #pick(limit: number): number {
    return this.#simulation.random.integer(limit);
  }

  #name(): string {
    return names[this.#pick(names.length)] ?? 'a';
  }

  async #use(): Promise<void> {
    const actions = [
      () => this.#claim({}),
      () => this.#claim({ dataSource: { kind: 'PersistentVolumeClaim', name: this.#name() } }),
      () =>
        this.#claim({
          dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: this.#name() },
        }),
      () => this.#snapshot(),
      () => this.#dataVolume(),
      () => this.#expand(),
      () => this.#start(this.#name()),
      () => this.#stop(this.#name()),
      () => this.#delete(),
      async () => this.#simulation.restartControllers(),
    ];
    await actions[this.#pick(actions.length)]?.().catch(ignoreRefusal);
    for (let steps = this.#pick(150); steps > 0; steps--) await this.#simulation.step();
  }

  async #claim(spec: Partial<PersistentVolumeClaim['spec']>): Promise<void> {
    await this.#client.create(resources.persistentVolumeClaims, {
      metadata: { name: this.#name(), namespace: 'default' },
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Block',
        resources: { requests: { storage: '4Mi' } },
        ...spec,
      },
    });
  }

  async #snapshot(): Promise<void> {
    await this.#client.create(resources.volumeSnapshots, {
      metadata: { name: this.#name(), namespace: 'default' },
      spec: { source: { persistentVolumeClaimName: this.#name() } },
    });
  }

  async #dataVolume(): Promise<void> {
    await this.#client.create(resources.dataVolumes, {
      metadata: { name: this.#name(), namespace: 'default' },
      spec: { source: this.#pick(2) === 0 ? { blank: {} } : { http: { url } }, storage: sized },
    });
  }

  async #expand(): Promise<void> {
    const storage = `${8 + 4 * this.#pick(3)}Mi`;
    await this.#client.patch(
      resources.persistentVolumeClaims,
      { namespace: 'default', name: this.#name() },
      { type: 'merge', body: { spec: { resources: { requests: { storage } } } } },
    );
  }

  async #delete(): Promise<void> {
    const kind = kinds[this.#pick(kinds.length)];
    if (kind) await this.#client.delete(kind, { namespace: 'default', name: this.#name() });
  }

  /** A machine on a claim of its name: its instance is there before its disk is opened. */
  async #start(name: string): Promise<void> {
    const claim = await this.#client.find(resources.persistentVolumeClaims, { namespace: 'default', name });
    const volume = this.#medium.volumes.get(claim?.metadata.uid ?? '');
    if (this.#running.has(name) || claim?.status?.phase !== 'Bound' || !volume) return;
    const { metadata } = await this.#client.create(resources.virtualMachineInstances, {
      metadata: { name, namespace: 'default' },
      spec: {
        domain: { devices: {}, memory: { guest: '64Mi' } },
        volumes: [{ name: 'root', persistentVolumeClaim: { claimName: name } }],
      },
    });
    const id = metadata.uid ?? '';
    this.#machines.start(id, [{ name: 'root', file: { path: volume.top.path, format: 'qcow2' } }]);
    await this.#machines.write(id, this.#pick(16), 1 + this.#pick(200));
    this.#running.set(name, id);
  }

  async #stop(name: string): Promise<void> {
    const id = this.#running.get(name);
    if (id === undefined) return;
    this.#running.delete(name);
    await this.#machines.end(id);
    await this.#client.delete(resources.virtualMachineInstances, { namespace: 'default', name });
  }

  async #converge(): Promise<void> {
    const { clock } = this.#simulation;
    const end = clock.monotonic() + patienceMs;
    while (clock.monotonic() < end && (await this.#simulation.step()));
  }

  async #list(kind: ResourceRef): Promise<readonly KubeObject[]> {
    return (await this.#client.list<KubeObject>(kind)).items;
  }

  /** What has reached neither its goal nor a named fault. */
  async #waiting(): Promise<readonly string[]> {
    const all = (await Promise.all(kinds.map((kind) => this.#list(kind)))).flat();
    const unfinished = all.filter((object) => !isDone(object));
    return unfinished
      .filter((object) => !isExplained(object, unfinished))
      .map((object) => `${nameOf(object)}: ${JSON.stringify(object['status'])}`);
  }

  /** Data without an object, and objects without data. */
  async #leftOver(): Promise<readonly string[]> {
    const volumes = (await this.#client.list(resources.persistentVolumes)).items;
    // A released one may stand for an image that others still share.
    const handles = volumes
      .filter(({ status }) => status?.phase !== 'Released')
      .map(({ spec }) => spec.csi?.volumeHandle ?? '');
    const snapshots = (await this.#client.list(resources.volumeSnapshotContents)).items;
    const taken = snapshots.flatMap(({ status }) =>
      status?.readyToUse ? [status.snapshotHandle ?? ''] : [],
    );
    return [
      ...differences('volume', [...this.#medium.volumes.keys()], handles),
      ...differences('snapshot', [...this.#medium.snapshots.keys()], taken),
    ];
  }

  async #remaining(): Promise<readonly string[]> {
    const objects = (await Promise.all(kept.map((kind) => this.#list(kind)))).flat();
    return [
      ...objects.map(
        ({ kind, metadata, status }) => `${kind} ${metadata.name} stays: ${JSON.stringify(status)}`,
      ),
      ...[...this.#medium.layers()].map(({ path }) => `${path} stays`),
      ...[...this.#medium.images.keys()].map((id) => `image ${id} stays`),
    ];
  }
}

const sized = { resources: { requests: { storage: '4Mi' } } };

/** Users are refused this and that. */
function ignoreRefusal(error: unknown): void {
  if (!StatusError.is(error)) throw error;
}

/** It names a fault, or something that is not done either. */
function isExplained({ status = {} }: KubeObject, unfinished: readonly KubeObject[]): boolean {
  const text = JSON.stringify(status);
  if (text.includes('needs someone')) return true;
  const [, kind, name] = /waits for (\w+) default\/(\w+)/.exec(text) ?? [];
  return unfinished.some((object) => nameOf(object) === `${kind} ${name}`);
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

function isDone({ status }: KubeObject): boolean {
  const { phase, readyToUse } = (status ?? {}) as { readonly phase?: string; readonly readyToUse?: boolean };
  return phase === 'Bound' || phase === 'Succeeded' || readyToUse === true;
}

function differences(what: string, there: readonly string[], wanted: readonly string[]): readonly string[] {
  const [a, b] = [new Set(there), new Set(wanted)];
  return [
    ...there.filter((id) => !b.has(id)).map((id) => `${what} ${id} has no object`),
    ...wanted.filter((id) => !a.has(id)).map((id) => `${what} ${id} is not there`),
  ];
}
