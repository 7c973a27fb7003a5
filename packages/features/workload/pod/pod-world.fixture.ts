import type { KubeObject } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import type { NetworkChecks } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock, type TestServer } from '@sheaf/testkit';
import {
  SimulatedContainerHost,
  SimulatedContainerImages,
  SimulatedContainers,
} from '@sheaf/testkit/containers/index';
import { SharedPodVolumes, SimulatedVolumeHost } from '@sheaf/testkit/pod-volumes/index';
import type { DiskRoom } from '../room/image-collection.ts';
import { register as registerRoom } from '../room/register.ts';
import { register } from './register.ts';
import { podStreamEndpoints } from './streams/endpoints.ts';

const guest = {
  id: `sha256:${'9'.repeat(64)}`,
  bytes: 2_000_000,
  user: '',
  entryPoint: ['/guest'],
  arguments: [],
  createdAt: 0,
};

/** A server, a node agent, and a simulated host for its containers. */
export interface PodWorld {
  readonly clock: TestClock;
  /** What is answered to checks over the network; none are expected. */
  readonly checks: { -readonly [Kind in keyof NetworkChecks]: NetworkChecks[Kind] };
  readonly client: Client;
  readonly clientAs: TestServer['clientAs'];
  readonly containers: SimulatedContainers;
  readonly host: SimulatedContainerHost;
  readonly volumeHost: SimulatedVolumeHost;
  /** The disk that has images and pods; without it nothing is told of it. */
  disk: () => DiskRoom | undefined;
  create<T extends KubeObject>(
    resource: ResourceRef<T>,
    name: string,
    object: Omit<T, 'metadata'>,
  ): Promise<T>;
  get<T extends KubeObject>(resource: ResourceRef<T>, name: string): Promise<T>;
  pods(): Promise<readonly Pod[]>;
  until(claim: () => Promise<boolean> | boolean): Promise<void>;
  /** The newest run of a container ends by itself. */
  exit(pod: string, container: string, code: number): void;
  addRemoteImage(reference: string): void;
  /** The agent ends, and another one begins; what runs goes on meanwhile. */
  restartAgent(): Promise<void>;
  /** The server is too busy for so many of the node agent's deletions. */
  refuseDeletions(count: number): void;
}

export async function withPods(use: (world: PodWorld) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const host = new SimulatedContainerHost({ clock, random: new SeededRandom(1) });
  const containers = new SimulatedContainers(host);
  const server = await startTestServer({
    clock,
    extend: (api, own) =>
      api.addGroup({
        group: '',
        version: 'v1',
        endpoints: podStreamEndpoints({ client: own, containers, clock, nodeName: 'here' }),
      }),
  });
  const { client, close } = server;
  let refusals = 0;
  const busy = server.clientThrough((request) => {
    if (request.method === 'DELETE' && refusals-- > 0) return Promise.reject(new Error('connection lost'));
    return server.transport.send(request);
  });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await client.create(resources.serviceAccounts, {
    metadata: { namespace: 'default', name: 'default' },
    automountServiceAccountToken: false,
  });
  host.addImage('localhost/test/guest:1', guest);
  const images = new SimulatedContainerImages(host);
  const volumeHost = new SimulatedVolumeHost();
  const volumes = new SharedPodVolumes(volumeHost, host);
  const checks: PodWorld['checks'] = { http: unexpected, tcp: unexpected, grpc: unexpected };
  let world: PodWorld | undefined;
  const openAgent = (): Manager => {
    const opened = new Manager({ client: busy, clock, random: new SeededRandom(2), logger: silentLogger });
    register(opened, {
      nodeName: 'here',
      containers,
      images,
      volumes,
      checks,
      hostAddresses: () => ['192.0.2.1'],
      clusterNames: () => ({ dnsServers: [], domain: 'cluster.local' }),
      diskOf: ({ name }) => Promise.resolve({ problem: `persistentvolumeclaim "${name}" not found` }),
    });
    registerRoom(opened, {
      nodeName: 'here',
      containers,
      images,
      volumes,
      disk: () => Promise.resolve(world?.disk()),
      isBundled: ({ tags }) => tags.some((tag) => tag.startsWith('bundled.test/')),
    });
    void opened.start();
    return opened;
  };
  await containers.probe(new AbortController().signal);
  let agent = openAgent();
  try {
    world = {
      disk: () => undefined,
      clock,
      checks,
      client,
      clientAs: server.clientAs,
      containers,
      host,
      volumeHost,
      create: (resource, name, object) =>
        client.create(resource, { ...object, metadata: { namespace: 'default', name } } as never),
      get: (resource, name) => client.get(resource, { namespace: 'default', name }),
      pods: async () => (await client.list(resources.pods, { namespace: 'default' })).items,
      until: (claim) => settle({ clock, until: claim, limitMs: 1_200_000 }),
      exit(pod, container, code) {
        const title = `default/${pod}/${container}`;
        const run = [...host.containers.values()].findLast(({ spec }) => spec.title === title);
        host.exit(run?.spec.id ?? '', code);
      },
      refuseDeletions(count) {
        refusals = count;
      },
      async restartAgent() {
        await agent.stop();
        agent = openAgent();
      },
      addRemoteImage: (reference) => host.sources.set(reference, { image: guest }),
    };
    await use(world);
  } finally {
    await agent.stop();
    containers.dispose();
    images.dispose();
    await close();
  }
}

function unexpected(): never {
  throw new Error('no test asks for that');
}
