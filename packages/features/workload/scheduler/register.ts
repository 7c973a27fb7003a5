import { requestsOf } from '@sheaf/api/node/index';
import type { Placeable } from '@sheaf/api/placement/index';
import { overcommitConfig, readSetting } from '@sheaf/api/setting/index';
import { type ResourceAmounts, sum } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { EventRecorder, keyOf, type Manager, WrittenObjects } from '@sheaf/runtime';
import { reconcilePodPlace } from './reconcile.ts';

/** Gives pods their nodes. One after the other, so that no room is given out twice. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'default-scheduler' });
  const pods = manager.informer(resources.pods);
  const nodes = manager.informer(resources.nodes);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const classes = manager.informer(resources.storageClasses);
  const namespaces = manager.informer(resources.namespaces);
  const waiting = (): readonly string[] =>
    pods.cache
      .list()
      .filter(({ spec }) => !spec.nodeName)
      .map(keyOf);
  const parts = {
    client,
    clock,
    recorder,
    pods: new WrittenObjects({ client, clock, informer: pods }),
    nodes: nodes.cache,
    claims: claims.cache,
    classes: classes.cache,
    machinesOn: machinesOn(manager),
    labelsOfNamespace: (name: string) => namespaces.cache.get(name)?.metadata.labels ?? {},
  };
  manager
    .controller({ name: 'scheduler', reconcile: (key, signal) => reconcilePodPlace(parts, key, signal) })
    .watch(pods)
    .watchMapped(pods, (pod) => (pod.spec.nodeName ? waiting() : []))
    .watchMapped(nodes, waiting)
    .watchMapped(claims, waiting);
}

/** Machines are tenants like pods. */
function machinesOn(
  manager: Manager,
): (nodeName: string) => { readonly used: ResourceAmounts; readonly peers: readonly Placeable[] } {
  const instances = manager.informer(resources.virtualMachineInstances);
  const settings = manager.informer(resources.settings);
  return (nodeName) => {
    const overcommit = readSetting(overcommitConfig, settings.cache.get(overcommitConfig.name));
    const here = instances.cache
      .list()
      .filter(
        ({ status }) =>
          status?.nodeName === nodeName && status.phase !== 'Failed' && status.phase !== 'Succeeded',
      );
    const amounts = here.map(({ spec }) => requestsOf(spec.domain, overcommit));
    const used = sum(amounts.map(({ cpuMillis, memoryBytes }) => ({ cpu: cpuMillis, memory: memoryBytes })));
    return { used, peers: here as readonly object[] as readonly Placeable[] };
  };
}
