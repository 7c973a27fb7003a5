import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { DiskFile, MachineFile } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { SimulatedHost, SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';
import type { InstanceSpec } from './instance-spec.ts';
import { registerInstances, registerMachines } from './register.ts';
import type { RunStrategy, VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';
import { instanceResource, machineResource } from './vm-resources.ts';

const kinds = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
  'datavolumes.cdi.kubevirt.io',
];
export const place = { namespace: 'default', name: 'a' };

/** A node with its host, and a control plane that can be started again. */
export class Node {
  readonly client: Client;
  readonly clock: TestClock;
  readonly host: SimulatedHost;
  readonly volumeFiles = new Map<string, DiskFile>();
  readonly #left = new Set<string>();
  readonly ownFiles = new Map<string, MachineFile>();
  /** Of all lives: two that begin alike would give their events the same names. */
  readonly #random = new SeededRandom(3);
  #manager: Manager | undefined;
  #driver: SimulatedHypervisor | undefined;

  constructor(client: Client, clock: TestClock) {
    this.client = client;
    this.clock = clock;
    const mayWrite = (path: string) => Promise.resolve(!this.#left.has(path));
    this.host = new SimulatedHost({ clock, random: new SeededRandom(2), mayWrite });
  }

  async start(): Promise<void> {
    const { client, clock } = this;
    const hypervisor = new SimulatedHypervisor(this.host);
    await hypervisor.probe(new AbortController().signal);
    const manager = new Manager({ client, clock, random: this.#random, logger: silentLogger });
    const volumes = { find: (id: string) => Promise.resolve(this.#volume(id)) };
    registerMachines(manager, {
      volumes,
      abilities: () => ({ canAddSockets: true, canAddMemory: false }),
      forgetPersistent: (uid, signal) => hypervisor.forgetPersistent(uid, signal),
    });
    registerInstances(manager, {
      hypervisor,
      volumes,
      files: {
        ensure: (id, file) => {
          this.ownFiles.set(`${id}/${file.name}`, file);
          return Promise.resolve({ path: `/m/${id}/${file.name}`, format: 'raw' });
        },
        remove: (id) => {
          for (const key of this.ownFiles.keys()) if (key.startsWith(`${id}/`)) this.ownFiles.delete(key);
          return Promise.resolve();
        },
        list: () =>
          Promise.resolve([...new Set([...this.ownFiles.keys()].map((key) => key.split('/')[0] ?? ''))]),
      },
      nodeName: 'node-1',
      memoryBytes: () => 2 ** 30,
      hasBridge: () => false,
    });
    this.#manager = manager;
    this.#driver = hypervisor;
    void manager.start();
  }

  async stop(): Promise<void> {
    await this.#manager?.stop();
    this.#driver?.dispose();
  }

  /** A claim that has its volume; resolves to the id of that. */
  async bindClaim(name: string, path: string): Promise<string> {
    const metadata = { namespace: 'default', name };
    const { spec, metadata: made } = await this.client.create(resources.persistentVolumeClaims, {
      metadata,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    });
    const status = { phase: 'Bound' } as const;
    await this.client.updateStatus(resources.persistentVolumeClaims, { metadata, spec, status });
    this.volumeFiles.set(made.uid ?? '', { path, format: 'qcow2' });
    return made.uid ?? '';
  }

  /** A volume goes on in another file; the one before is frozen. */
  moveVolume(id: string, path: string): void {
    this.#left.add(this.volumeFiles.get(id)?.path ?? '');
    this.volumeFiles.set(id, { path, format: 'qcow2' });
  }

  #volume(id: string) {
    const file = this.volumeFiles.get(id);
    if (!file) return undefined;
    return { id, title: '', bytes: 1, allocatedBytes: 1, file, isBusy: false, snapshotIds: [] };
  }

  async create(runStrategy: RunStrategy, spec: Partial<InstanceSpec> = {}, at = place): Promise<void> {
    const domain = { memory: { guest: '64Mi' }, devices: { autoattachPodInterface: false } };
    const template = { spec: { domain, terminationGracePeriodSeconds: 5, ...spec } };
    await this.client.create(machineResource, { metadata: at, spec: { runStrategy, template } });
  }

  machine(): Promise<VirtualMachine | undefined> {
    return this.client.find(machineResource, place);
  }

  instance(): Promise<VirtualMachineInstance | undefined> {
    return this.client.find(instanceResource, place);
  }

  until(claim: (machine?: VirtualMachine, instance?: VirtualMachineInstance) => boolean): Promise<void> {
    const { clock } = this;
    return settle({ clock, until: async () => claim(await this.machine(), await this.instance()) });
  }

  untilShown(status: string): Promise<void> {
    return this.until((machine) => machine?.status?.printableStatus === status);
  }

  async uid(): Promise<string> {
    return (await this.instance())?.metadata.uid ?? '';
  }

  /** Until another instance than this one runs. */
  untilOther(uid: string): Promise<void> {
    return this.until(
      (machine, instance) => instance?.metadata.uid !== uid && machine?.status?.printableStatus === 'Running',
    );
  }
}

export async function withNode(run: (node: Node) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const definitions = kindDefinitions().filter(({ name }) => kinds.includes(name));
  for (const definition of customResourceDefinitions(definitions))
    await client.create(resources.customResourceDefinitions, definition);
  const node = new Node(client, clock);
  try {
    await run(node);
  } finally {
    await node.stop();
    await close();
  }
}
