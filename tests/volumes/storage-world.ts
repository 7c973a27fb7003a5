import assert from 'node:assert/strict';
import type { KubeObject } from '@sheaf/api';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { silentLogger } from '@sheaf/base';
import { Client, inProcessTransport, resources } from '@sheaf/client';
import { extend as extendDataVolumes, register as registerDataVolumes } from '@sheaf/features/data-volume';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { extend as extendBackups, register as registerBackups } from '@sheaf/features/vm-backup';
import { ensureStorage, extend as extendVolumes, register as registerVolumes } from '@sheaf/features/volume';
import {
  ensureSnapshotClasses,
  extend as extendSnapshots,
  register as registerSnapshots,
} from '@sheaf/features/volume-snapshot';
import type { Images, Volumes } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import {
  SeededRandom,
  serveKinds,
  settle,
  startTestServer,
  TestClock,
  type TestServer,
  testAdmin,
} from '@sheaf/testkit';
import {
  noDiskFaults,
  openSimulatedDisk,
  type SimulatedDisk,
  SimulatedMedium,
  SimulatedSources,
} from '@sheaf/testkit/volumes/index';
import { SimulatedMachines } from './simulated-machines.ts';
import { installStorageKinds } from './storage-kinds.ts';

const mebibyte = 1024 ** 2;
const signal = new AbortController().signal;
const backupKinds = ['virtualmachinebackups.harvesterhci.io', 'virtualmachinerestores.harvesterhci.io'];

export interface StorageOptions {
  /** Snapshots of whole machines and their restores, too. */
  readonly hasBackups?: boolean;
}

/** The control plane of storage over a simulated disk: whatever is about to change anything can be made to die there. */
export class StorageWorld {
  readonly clock: TestClock;
  readonly medium = new SimulatedMedium(256 * mebibyte);
  readonly sources = new SimulatedSources();
  readonly machines = new SimulatedMachines(this.medium);
  readonly #server: TestServer;
  readonly #hasBackups: boolean;
  #disk: SimulatedDisk | undefined;
  #manager: Manager | undefined;
  #lives = 0;
  #isDead = false;
  /** Changes that have been begun so far, in all lives. */
  changes = 0;
  /** The change before which everything dies. */
  diesBefore: number | undefined;

  static async open({ hasBackups = false }: StorageOptions = {}): Promise<StorageWorld> {
    const clock = new TestClock();
    const server = await startTestServer({
      clock,
      extend: (api, client) => {
        extendVolumes(api, client);
        extendSnapshots(api, client);
        extendDataVolumes(api);
        if (hasBackups) extendBackups(api);
      },
    });
    const world = new StorageWorld(server, clock, hasBackups);
    await installStorageKinds(server.client, (claim) => settle({ clock, until: claim }));
    if (hasBackups) await serveKinds(server.client, clock, backupKinds);
    await server.client.create(resources.namespaces, { metadata: { name: 'default' } });
    await ensureStorage(server.client);
    await ensureSnapshotClasses(server.client);
    world.live();
    return world;
  }

  private constructor(server: TestServer, clock: TestClock, hasBackups: boolean) {
    this.#server = server;
    this.clock = clock;
    this.#hasBackups = hasBackups;
  }

  get client(): Client {
    return this.#server.client;
  }

  /** How many there have been. */
  get lives(): number {
    return this.#lives;
  }

  get server(): TestServer {
    return this.#server;
  }

  get volumes(): Volumes {
    return this.#drivers().volumes;
  }

  get images(): Images {
    return this.#drivers().images;
  }

  /** Begins a new life of drivers, and of controllers. */
  live({ hasControllers = true } = {}): void {
    this.#isDead = false;
    const life = ++this.#lives;
    const isOver = (): boolean => life !== this.#lives || this.#isDead;
    const disk = openSimulatedDisk({
      medium: this.medium,
      clock: this.clock,
      sources: this.sources,
      random: new SeededRandom(life),
      faults: { ...noDiskFaults, crashesAt: (step) => isOver() || (isChange(step) && this.#changes()) },
    });
    const transport = inProcessTransport(this.#server.server.handle, testAdmin);
    const client = new Client({
      userAgent: 'controllers',
      transport: {
        send: async (request) => {
          if (isOver() || (request.method !== 'GET' && this.#changes()))
            throw new Error('the process is dead');
          return transport.send(request);
        },
        close: () => transport.close(),
      },
    });
    this.#disk = disk;
    this.#manager = undefined;
    if (!hasControllers) return;
    const manager = new Manager({
      client,
      clock: this.clock,
      random: new SeededRandom(life),
      logger: silentLogger,
    });
    const { volumes, images, memories } = disk;
    const hypervisor = this.#mortalMachines(isOver);
    registerVolumes(manager, { volumes, images, hypervisor });
    registerSnapshots(manager, { volumes, hypervisor, memories });
    registerDataVolumes(manager, { images });
    if (this.#hasBackups) registerBackups(manager, { memories, hypervisor });
    registerGarbageCollection(manager);
    void manager.start();
    this.#manager = manager;
  }

  async restart(options?: { readonly hasControllers?: boolean }): Promise<void> {
    this.#isDead = true;
    this.#disk?.crash();
    await this.#manager?.stop();
    this.live(options);
  }

  /** Until the change before which everything dies; nothing is started again. */
  async untilDead(): Promise<void> {
    await settle({ clock: this.clock, until: () => Promise.resolve(this.#isDead) });
    this.diesBefore = undefined;
  }

  /** Until the claim holds. Whoever has died is started again. */
  async until(claim: () => Promise<boolean>, limitMs = 600_000): Promise<void> {
    await settle({ clock: this.clock, until: async () => this.#isDead || (await claim()), limitMs });
    if (!this.#isDead) return;
    await this.restart();
    await this.until(claim, limitMs);
  }

  async close(): Promise<void> {
    await this.#manager?.stop();
    await this.#server.close();
  }

  /** A claim of 8 MiB of the usual class, unless it is said otherwise. */
  async createClaim(
    name: string,
    spec: Partial<PersistentVolumeClaim['spec']> = {},
    more: Partial<KubeObject> = {},
  ): Promise<PersistentVolumeClaim> {
    return this.client.create(resources.persistentVolumeClaims, {
      ...more,
      metadata: { name, namespace: 'default', ...more.metadata },
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Block',
        resources: { requests: { storage: '8Mi' } },
        ...spec,
      },
    });
  }

  claim(name: string): Promise<PersistentVolumeClaim> {
    return this.client.get(resources.persistentVolumeClaims, { namespace: 'default', name });
  }

  async untilPhase(name: string, phase: string): Promise<PersistentVolumeClaim> {
    await this.until(async () => (await this.claim(name)).status?.phase === phase);
    return this.claim(name);
  }

  /** What `sheaf why` is told of a claim that waits. */
  async untilWaiting(name: string, reason: string): Promise<string> {
    const find = async () =>
      (await this.claim(name)).status?.conditions?.find((condition) => condition.reason === reason);
    await this.until(async () => (await find()) !== undefined);
    return (await find())?.message ?? '';
  }

  /** A machine on claims, and its instance. The first disk is called `root`, the others as their claims. */
  async startMachine(name: string, claimName: string, ...more: readonly string[]): Promise<string> {
    const disks = [{ disk: 'root', claimName }, ...more.map((each) => ({ disk: each, claimName: each }))];
    const instance = await this.client.create(resources.virtualMachineInstances, {
      metadata: { name, namespace: 'default' },
      spec: {
        domain: { devices: {}, memory: { guest: '64Mi' } },
        volumes: disks.map((each) => ({
          name: each.disk,
          persistentVolumeClaim: { claimName: each.claimName },
        })),
      },
    });
    const id = instance.metadata.uid ?? '';
    const opened = disks.map(async (each) => {
      const { uid = '' } = (await this.claim(each.claimName)).metadata;
      const volume = await this.volumes.find(uid, signal);
      return volume ? [{ name: each.disk, file: volume.file }] : [];
    });
    const files = (await Promise.all(opened)).flat();
    if (files.length > 0) this.machines.start(id, files);
    for (const { file } of files)
      assert.ok(await this.volumes.mayWrite(file.path, signal), 'it is written to by it');
    return id;
  }

  async stopMachine(name: string): Promise<void> {
    const place = { namespace: 'default', name };
    const { metadata } = await this.client.get(resources.virtualMachineInstances, place);
    await this.machines.end(metadata.uid ?? '');
    await this.client.delete(resources.virtualMachineInstances, place);
  }

  /** Nothing is left but the world. */
  async clear(): Promise<void> {
    const { items } = await this.client.list(resources.virtualMachineInstances);
    for (const { metadata } of items) await this.stopMachine(metadata.name ?? '');
    const kinds = [
      resources.dataVolumes,
      resources.volumeSnapshots,
      resources.persistentVolumeClaims,
    ] as const;
    for (const resource of kinds) await this.client.deleteCollection(resource, { namespace: 'default' });
    const isEmpty = async (): Promise<boolean> => {
      const kept = [...kinds, resources.persistentVolumes, resources.volumeSnapshotContents] as const;
      const lists = await Promise.all(kept.map((resource) => this.client.list<KubeObject>(resource)));
      return lists.every((list) => list.items.length === 0);
    };
    await this.until(isEmpty);
    await this.until(async () => this.medium.layers().size === 0);
  }

  /** Every object of storage and everything on the medium, without what differs from run to run. */
  async picture(): Promise<object> {
    const lists = [
      resources.persistentVolumeClaims,
      resources.volumeSnapshots,
      resources.dataVolumes,
    ] as const;
    const objects = await Promise.all(lists.map((resource) => this.client.list<KubeObject>(resource)));
    const volumes = await this.client.list(resources.persistentVolumes);
    const contents = await this.client.list(resources.volumeSnapshotContents);
    return {
      objects: objects.flatMap(({ items }) =>
        items.map((item) => {
          const { phase, readyToUse, capacity } = (item['status'] ?? {}) as Record<string, unknown>;
          return { kind: item.kind, name: item.metadata.name, phase, readyToUse, capacity };
        }),
      ),
      volumes: volumes.items
        .map(({ status, spec }) => [spec.claimRef?.name, status?.phase, spec.capacity['storage']].join(' '))
        .sort(),
      contents: contents.items.map(({ status }) => status?.readyToUse),
      medium: {
        volumes: [...this.medium.volumes.values()].map(({ title, bytes }) => `${title} ${bytes}`).sort(),
        snapshots: this.medium.snapshots.size,
        images: this.medium.images.size,
        layers: this.medium.layers().size,
      },
    };
  }

  #drivers(): SimulatedDisk {
    if (!this.#disk) throw new Error('nothing lives');
    return this.#disk;
  }

  #mortalMachines(
    isOver: () => boolean,
  ): Pick<SimulatedMachines, 'list' | 'resizeDisk' | 'switchDisks' | 'saveMemory' | 'askAgent'> {
    const mortal = async <T>(act: () => Promise<T>): Promise<T> => {
      if (isOver() || this.#changes()) throw new Error('the process is dead');
      return await act();
    };
    return {
      list: () => this.machines.list(),
      resizeDisk: (id, change) => mortal(() => this.machines.resizeDisk(id, change)),
      askAgent: async (id, command) => {
        const isLook = command.execute === 'guest-fsfreeze-status';
        if (isOver() || (!isLook && this.#changes())) throw new Error('the process is dead');
        return await this.machines.askAgent(id, command);
      },
      saveMemory: (id, order) => mortal(() => this.machines.saveMemory(id, order)),
      switchDisks: (id, disks) => mortal(() => this.machines.switchDisks(id, disks)),
    };
  }

  /** True: it ends here. */
  #changes(): boolean {
    this.changes++;
    if (this.changes !== this.diesBefore) return false;
    this.#isDead = true;
    return true;
  }
}

/** Steps of the simulated driver that are looked at and not changed by. */
const looks = new Set([
  'writer-confirmed',
  'space-counted',
  'volumes-listed',
  'volume-found',
  'snapshots-listed',
  'prepared-found',
  'unowned-found',
  'memories-listed',
  'images-listed',
  'image-found',
]);

function isChange(step: string): boolean {
  return !looks.has(step);
}
