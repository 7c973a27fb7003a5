import { resources } from '@sheaf/client';
import { register as registerAddon } from '@sheaf/features/addon';
import { register as registerHelmChart } from '@sheaf/features/helm-chart';
import { register as registerService } from '@sheaf/features/service';
import { claimDisks } from '@sheaf/features/volume';
import { registerPods, register as registerWorkloads } from '@sheaf/features/workload';
import type { Manager } from '@sheaf/runtime';
import type { MachineHost } from './machine-host.ts';

/** The controllers of workloads and of this host's pods, with its containers as their world. */
export function registerWorkloadControllers(manager: Manager, host: MachineHost): void {
  const { nodeName, volumes } = host;
  const { containers, images, volumes: podVolumes, checks } = host.workloads;
  registerWorkloads(manager);
  registerService(manager);
  registerHelmChart(manager);
  registerAddon(manager);
  registerPods(manager, {
    nodeName,
    containers,
    images,
    volumes: podVolumes,
    checks,
    hostAddresses: hostAddresses(manager, nodeName),
    clusterNames: () => ({ dnsServers: [], domain: 'cluster.local' }),
    diskOf: claimDisks(manager, volumes),
  });
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
