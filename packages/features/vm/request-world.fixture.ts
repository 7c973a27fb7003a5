import type { Condition, KubeObject } from '@sheaf/api';
import { type Client, type ClientResponse, type InProcessUser, resources } from '@sheaf/client';
import type { MachineSpec } from '@sheaf/ports';
import { SeededRandom, serveKinds, startTestServer, TestClock, type TestServer } from '@sheaf/testkit';
import { SimulatedHost, SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';
import { extendByRequests } from './requests.ts';
import type { InstancePhase, VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';
import { instanceResource, machineResource } from './vm-resources.ts';

const namespace = 'default';
const name = 'a';

/** A server with machines that only requests act upon, on a simulated host. */
export interface RequestWorld extends Pick<TestServer, 'client' | 'clientAs'> {
  readonly clock: TestClock;
  readonly host: SimulatedHost;
  /** Makes the machine `default/a`. */
  machine(change?: (machine: VirtualMachine) => VirtualMachine): Promise<VirtualMachine>;
  /** Makes its instance, in this phase; one that runs has a process. */
  instance(
    phase: InstancePhase,
    change?: (instance: VirtualMachineInstance) => VirtualMachineInstance,
  ): Promise<VirtualMachineInstance>;
  /** A request to the group; status and body, a Status by its message. */
  ask(method: string, path: string, body?: object): Promise<readonly [number, string]>;
  /** Harvester's action on the machine; status and body. */
  act(action: string, body?: object | string, user?: InProcessUser): Promise<readonly [number, string]>;
  find(): Promise<VirtualMachine>;
}

const kinds = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'virtualmachinebackups.harvesterhci.io',
  'virtualmachineimages.harvesterhci.io',
  'virtualmachinerestores.harvesterhci.io',
  'virtualmachinetemplates.harvesterhci.io',
  'virtualmachinetemplateversions.harvesterhci.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
  'resourcequotas.harvesterhci.io',
  'settings.harvesterhci.io',
];

export async function withRequests(run: (world: RequestWorld) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const random = new SeededRandom(3);
  const host = new SimulatedHost({ clock, random });
  const hypervisor = new SimulatedHypervisor(host);
  const server = await startTestServer({
    clock,
    extend: (api, client) => extendByRequests(api, { client, hypervisor, clock, random }),
  });
  const { client } = server;
  try {
    await serveKinds(client, clock, kinds);
    await client.create(resources.namespaces, { metadata: { name: namespace } });
    await run({
      client,
      clientAs: server.clientAs,
      clock,
      host,
      machine: (change = same) => client.create(machineResource, change(newMachine)),
      async instance(phase, change = same) {
        const owner = await client.find(machineResource, { namespace, name });
        const made = await client.create(instanceResource, change(newInstance(phase, owner)));
        if (phase === 'Running') {
          await hypervisor.start(processOf(made), signal);
          await hypervisor.resume(made.metadata.uid ?? '', signal);
        }
        return made;
      },
      ask: (method, path, body) => answerOf(client, { method, target: `${groupPath}/${path}`, body }),
      act: (action, body, user) =>
        answerOf(user ? server.clientAs(user) : client, {
          method: 'POST',
          target: `/v1/harvester/kubevirt.io.virtualmachines/${namespace}/${name}?action=${action}`,
          body,
        }),
      find: () => client.get(machineResource, { namespace, name }),
    });
  } finally {
    hypervisor.dispose();
    await server.close();
  }
}

const groupPath = '/apis/subresources.kubevirt.io/v1';
const { signal } = new AbortController();

function same<T>(value: T): T {
  return value;
}

const newMachine: VirtualMachine = {
  metadata: { namespace, name },
  spec: {
    runStrategy: 'RerunOnFailure',
    template: { spec: { domain: { memory: { guest: '64Mi' }, devices: {} } } },
  },
};

function newInstance(phase: InstancePhase, owner: KubeObject | undefined): VirtualMachineInstance {
  const { uid = '' } = owner?.metadata ?? {};
  const reference = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    metadata: { namespace, name, ...(owner ? { ownerReferences: [reference] } : {}) },
    spec: { domain: { memory: { guest: '64Mi' }, devices: {} } },
    status: { phase },
  };
}

/** An instance with a condition that is true. */
export function withCondition(type: string): (instance: VirtualMachineInstance) => VirtualMachineInstance {
  const condition = { type, status: 'True' } as Condition;
  return (instance) => ({ ...instance, status: { ...instance.status, conditions: [condition] } });
}

function processOf({ metadata }: VirtualMachineInstance): MachineSpec {
  return {
    id: metadata.uid ?? '',
    title: `${namespace}/${name}`,
    machineType: 'q35',
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { bytes: 2 ** 26 },
    firmware: { kind: 'bios' },
    identity: { uuid: '00000000-0000-4000-8000-000000000000' },
    disks: [],
    nics: [{ name: 'default', model: 'virtio', mac: '02:00:00:00:00:01', link: { kind: 'user' } }],
    hasGraphics: true,
    hasSerialConsole: true,
    hasAgentChannel: true,
    hasRandomSource: false,
    hasBalloon: false,
  };
}

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly body: object | string | undefined;
}

async function answerOf(client: Client, { method, target, body }: Asked): Promise<readonly [number, string]> {
  const text = typeof body === 'string' ? body : body && JSON.stringify(body);
  const response: ClientResponse = await client.send({
    method,
    target,
    ...(text === undefined ? {} : { body: text, headers: { 'content-type': 'application/json' } }),
  });
  return [response.status, wordsOf(await response.text())];
}

function wordsOf(text: string): string {
  if (!text.startsWith('{')) return text;
  const answer = JSON.parse(text) as { kind?: string; message?: string };
  return answer.kind === 'Status' ? (answer.message ?? '') : text;
}
