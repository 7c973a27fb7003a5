import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import type { Pod } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { openPodVolumes } from '@sheaf/drivers/pod-volumes';
import { openPodman } from '@sheaf/drivers/podman';
import { networkChecks, systemClock, systemRandom } from '@sheaf/drivers/system';
import { register as registerService } from '@sheaf/features/service';
import { extend, registerPods, register as registerWorkloads } from '@sheaf/features/workload';
import { Manager } from '@sheaf/runtime';
import { startTestServer, type TestServer } from '@sheaf/testkit';
import { guestArchive, guestIsMissing } from '@sheaf/testkit/containers/index';

export const nodeName = 'here';
export const guestTag = 'localhost/test/guest:1';
const patienceMs = 90_000;

/** Why containers cannot be tried here. */
export const containersAreMissing =
  guestIsMissing ??
  (process.getuid?.() === 0 ? undefined : 'containers need root') ??
  (existsSync('/usr/bin/podman') && existsSync('/usr/lib/podman/netavark')
    ? undefined
    : 'podman is not installed: apt-get install --no-install-recommends podman runc netavark iptables');

/** An API server with the controllers of workloads, and this host as its only node, with real containers. */
export interface WorkloadHost {
  readonly client: Client;
  readonly handle: TestServer['server']['handle'];
  pods(): Promise<readonly Pod[]>;
  /** @throws Error when it does not become true, with what the pods say */
  until(claim: () => Promise<boolean>): Promise<void>;
  /** Containers that are there, whatever the API says. */
  containerCount(): Promise<number>;
  /** Ends a container's process, as somebody else would. */
  killFirst(podName: string): Promise<void>;
}

export async function withWorkloadHost(use: (host: WorkloadHost) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-pods-'));
  const { signal } = new AbortController();
  const podman = openPodman({
    directory: join(directory, 'podman'),
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  });
  const { client, server, close } = await startTestServer({
    clock: systemClock,
    random: systemRandom,
    extend: (api, own) => extend(api, { ...podman, client: own, clock: systemClock, nodeName }),
  });
  const volumes = openPodVolumes({
    directory: join(directory, 'pods'),
    clock: systemClock,
    mayWrite: () => Promise.resolve(true),
  });
  const manager = new Manager({ client, clock: systemClock, random: systemRandom, logger: silentLogger });
  const until = async (claim: () => Promise<boolean>): Promise<void> => {
    const end = performance.now() + patienceMs;
    while (!(await claim())) {
      if (performance.now() > end) throw new Error(`it did not become true: ${await describe(client)}`);
      await pass(100);
    }
  };
  try {
    const { containers: isRunnable } = await podman.containers.probe(signal);
    if (!isRunnable.isAvailable) throw new Error(isRunnable.reason);
    await volumes.probe(signal);
    await podman.images.load(guestArchive(guestTag), signal);
    await prepare(client);
    registerWorkloads(manager);
    registerService(manager);
    registerPods(manager, {
      nodeName,
      containers: podman.containers,
      images: podman.images,
      volumes,
      checks: networkChecks,
      hostAddresses: () => ['127.0.0.1'],
      clusterNames: () => ({ dnsServers: [], domain: 'cluster.local' }),
      diskOf: ({ name }) => Promise.resolve({ problem: `persistentvolumeclaim "${name}" not found` }),
    });
    void manager.start();
    await use({
      client,
      handle: server.handle,
      until,
      pods: async () => (await client.list(resources.pods, { namespace: 'default' })).items,
      containerCount: async () => (await podman.containers.listContainers(signal)).length,
      async killFirst(podName) {
        const running = await podman.containers.listContainers(signal);
        const found = running.find(
          ({ title, state }) => state === 'running' && title.startsWith(`default/${podName}/`),
        );
        process.kill(found?.processId ?? 0, 'SIGKILL');
      },
    });
  } finally {
    for (const resource of [resources.deployments, resources.jobs, resources.replicaSets, resources.pods])
      await client.deleteCollection(
        resource,
        { namespace: 'default' },
        { gracePeriodSeconds: 0, propagationPolicy: 'Background' },
      );
    await until(async () => (await podman.containers.listSandboxes(signal)).length === 0).catch(
      () => undefined,
    );
    await manager.stop();
    podman.containers.dispose();
    await close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function prepare(client: Client): Promise<void> {
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await client.create(resources.serviceAccounts, {
    metadata: { namespace: 'default', name: 'default' },
    automountServiceAccountToken: false,
  });
  const node = await client.create(resources.nodes, { metadata: { name: nodeName } });
  // A new node has the taint of one that is not ready.
  const bare = await client.update(resources.nodes, { ...node, spec: { taints: [] } });
  const amounts = { cpu: '8', memory: '16Gi', pods: '20' };
  await client.updateStatus(resources.nodes, {
    ...bare,
    status: { allocatable: amounts, capacity: amounts },
  });
}

async function describe(client: Client): Promise<string> {
  const { items } = await client.list(resources.pods, { namespace: 'default' });
  return JSON.stringify(
    items.map(({ metadata, status }) => [
      metadata.name,
      status?.phase,
      status?.conditions,
      status?.containerStatuses,
    ]),
  );
}
