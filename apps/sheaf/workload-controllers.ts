import { type Client, resources } from '@sheaf/client';
import { makePackaged, register as registerAddon } from '@sheaf/features/addon';
import { register as registerHelmChart } from '@sheaf/features/helm-chart';
import { registerReach, register as registerService } from '@sheaf/features/service';
import { register as registerUpgrade } from '@sheaf/features/upgrade';
import { claimDisks } from '@sheaf/features/volume';
import {
  type PodHost,
  registerLostPods,
  registerPods,
  registerRoom,
  register as registerWorkloads,
} from '@sheaf/features/workload';
import type { ProxyBackend } from '@sheaf/ports';
import type { Manager } from '@sheaf/runtime';
import { type Bound, installBounded } from './install-bounded.ts';
import type { MachineHost } from './machine-host.ts';
import { clusterDomain, nameAddress } from './service-network.ts';

/** The controllers of workloads and of this host's pods, with its containers as their world. */
export function registerWorkloadControllers(
  manager: Manager,
  host: MachineHost,
  apiServer: ProxyBackend | undefined,
): void {
  const { nodeName, volumes } = host;
  const { containers, images, volumes: podVolumes, checks, bundles, chartContents } = host.workloads;
  registerWorkloads(manager);
  registerService(manager);
  registerHelmChart(manager, { chartContents, bundles });
  registerAddon(manager);
  registerUpgrade(manager);
  registerPods(manager, {
    nodeName,
    containers,
    programs: host.workloads.programs,
    images,
    isBundled: (reference) => bundles.hasImage(reference),
    volumes: podVolumes,
    checks,
    hostAddresses: hostAddresses(manager, nodeName),
    clusterNames: clusterNames(manager, host, apiServer),
    diskOf: claimDisks(manager, volumes),
  });
  registerLostPods(manager, { nodeName });
  registerRoom(manager, {
    nodeName,
    containers,
    images,
    volumes: podVolumes,
    disk: async (signal) => (await host.facts.read(signal)).disk,
    isBundled: ({ tags, digests }) => [...tags, ...digests].some((name) => bundles.hasImage(name)),
  });
}

/** The add-ons that come with the release, so that whoever looks first sees all of them. */
export async function installAddons(client: Client, bound: Bound): Promise<void> {
  await installBounded(bound, 'the packaged add-ons', async (signal) => {
    await makePackaged(client, signal);
  });
}

/** Services are reached where pods run. */
function clusterNames(
  manager: Manager,
  { nodeName, workloads }: MachineHost,
  apiServer: ProxyBackend | undefined,
): PodHost['clusterNames'] {
  const { containers, services } = workloads;
  if (!services) return () => ({ dnsServers: [], domain: clusterDomain });
  if (!apiServer)
    manager.logger.warn(
      'pods do not reach the API server: it listens on IPv6 alone; start it with --listen 127.0.0.1:PORT or 0.0.0.0:PORT',
    );
  const reach = registerReach(manager, {
    ...services,
    nodeName,
    zone: clusterDomain,
    nameAddress,
    apiServer,
    onPodChange: (listener) => containers.onChange(listener),
  });
  return () => reach.names();
}

/** Those that the node tells; before it does, those of the loopback. */
function hostAddresses(manager: Manager, nodeName: string): () => readonly string[] {
  const nodes = manager.informer(resources.nodes);
  return () => {
    const told = nodes.cache.get(nodeName)?.status?.addresses ?? [];
    const inside = told.filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
    return inside.length > 0 ? inside : ['127.0.0.1'];
  };
}
