import type { VirtualMachine } from '@sheaf/api/virtualization/index';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { extend as extendByNodes, register as registerNode } from '@sheaf/features/node';
import { extend as extendByMachines, registerInstances, registerMachines } from '@sheaf/features/vm';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, serveKinds, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { SimulatedHostFacts } from '@sheaf/testkit/host/index';
import { SimulatedHost, SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';

const kinds = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
  'datavolumes.cdi.kubevirt.io',
  'settings.harvesterhci.io',
];

export const nodeName = 'node-1';

export interface MachineWish {
  readonly runStrategy: string;
  readonly guest?: string;
  readonly labels?: Record<string, string>;
}

/** A host with its hypervisor, and a control plane on it that can be stopped, started and lose its power. */
export class WholeHost {
  readonly client: Client;
  readonly clock: TestClock;
  readonly facts = new SimulatedHostFacts();
  readonly processes: SimulatedHost;
  /** The most starts that were seen under way at once. */
  mostStarting = 0;
  #manager: Manager | undefined;
  #driver: SimulatedHypervisor | undefined;

  constructor(client: Client, clock: TestClock) {
    this.client = client;
    this.clock = clock;
    const capabilities = { parallelStarts: 2 };
    this.processes = new SimulatedHost({ clock, random: new SeededRandom(2), capabilities });
    this.processes.faults.startMs = 700;
    this.processes.faults.onStep = () => this.#countStarts();
  }

  async start(): Promise<void> {
    const { client, clock, facts } = this;
    const hypervisor = new SimulatedHypervisor(this.processes);
    await hypervisor.probe(new AbortController().signal);
    const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
    const volumes = { find: () => Promise.resolve(undefined) };
    const noFiles = () => Promise.reject(new Error('no machine here has files of its own'));
    const containers = { isAvailable: false, reason: 'not here' };
    registerNode(manager, {
      host: facts,
      hypervisor,
      containers: () => ({ areWanted: false, containers }),
      nodeName,
      version: 'v1.36.0',
    });
    registerMachines(manager, {
      volumes,
      abilities: () => ({ canAddSockets: true, canAddMemory: false }),
      forgetPersistent: () => Promise.resolve(),
    });
    registerInstances(manager, {
      hypervisor,
      volumes,
      files: { ensure: noFiles, remove: () => Promise.resolve(), list: () => Promise.resolve([]) },
      nodeName,
      memoryBytes: () => facts.facts.memoryBytes,
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

  async losePower(): Promise<void> {
    await this.stop();
    this.processes.restart();
    this.facts.reboot();
  }

  async create(name: string, { runStrategy, guest = '64Mi', labels = {} }: MachineWish): Promise<void> {
    const domain = { memory: { guest }, devices: { autoattachPodInterface: false } };
    const template = { spec: { domain, terminationGracePeriodSeconds: 5 } };
    const machine = { metadata: { namespace: 'default', name, labels }, spec: { runStrategy, template } };
    await this.client.create(resources.virtualMachines, machine);
  }

  machine(name: string): Promise<VirtualMachine> {
    return this.client.get(resources.virtualMachines, { namespace: 'default', name });
  }

  /** Until all machines are shown so. */
  async untilShown(wanted: Readonly<Record<string, string>>): Promise<void> {
    await this.until(async () => {
      const { items } = await this.client.list(resources.virtualMachines);
      const shown = new Map(items.map(({ metadata, status }) => [metadata.name, status?.printableStatus]));
      return Object.entries(wanted).every(([name, status]) => shown.get(name) === status);
    });
  }

  until(claim: () => Promise<boolean>): Promise<void> {
    return settle({ clock: this.clock, until: claim, limitMs: 300_000 });
  }

  async annotate(annotations: Readonly<Record<string, string>>): Promise<void> {
    const body = { metadata: { annotations } };
    await this.client.patch(resources.nodes, { name: nodeName }, { type: 'merge', body });
  }

  async untilMaintained(status: string | undefined): Promise<void> {
    await this.until(async () => {
      const node = await this.client.get(resources.nodes, { name: nodeName });
      return node.metadata.annotations?.['harvesterhci.io/maintain-status'] === status;
    });
  }

  #countStarts(): void {
    const starting = [...this.processes.machines.values()].filter(
      ({ process, wasReady }) => process && !wasReady,
    );
    this.mostStarting = Math.max(this.mostStarting, starting.length);
  }
}

export async function withWholeHost(use: (host: WholeHost) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const idle = new SimulatedHypervisor(new SimulatedHost({ clock, random: new SeededRandom(4) }));
  const { client, close } = await startTestServer({
    clock,
    extend(api, inner) {
      extendByNodes(api, { client: inner });
      extendByMachines(api, { client: inner, hypervisor: idle, clock, random: new SeededRandom(5) });
    },
  });
  for (const name of ['default', 'kube-node-lease'])
    await client.create(resources.namespaces, { metadata: { name } });
  await serveKinds(client, clock, kinds);
  const host = new WholeHost(client, clock);
  try {
    await host.start();
    await use(host);
  } finally {
    await host.stop();
    idle.dispose();
    await close();
  }
}
