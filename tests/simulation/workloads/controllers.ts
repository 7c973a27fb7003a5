import type { Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { type PodHost, registerPods } from '@sheaf/features/workload';
import { done, keyOf, type Manager } from '@sheaf/runtime';
import type { Family } from './families.ts';

const protection = 'kubernetes.io/pvc-protection';

/** The controllers of one life, as the program binds them, with one node agent for each host. */
export function registerWorkloads(manager: Manager, family: Family, hosts: readonly PodHost[]): void {
  family.register(manager);
  for (const host of hosts) registerPods(manager, host);
  registerGarbageCollection(manager, {
    isMonitored: ({ plural }) => family.collected.has(plural),
    concurrency: 4,
  });
  letClaimsGo(manager);
}

/** Stands in for those who keep volumes: a claim goes when no pod uses it any more. */
function letClaimsGo(manager: Manager): void {
  const { client } = manager;
  const claims = manager.informer(resources.persistentVolumeClaims);
  const pods = manager.informer(resources.pods);
  const keysOf = (pod: Pod): readonly string[] =>
    (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
      claim ? [`${pod.metadata.namespace}/${claim.claimName}`] : [],
    );
  manager
    .controller({
      name: 'claim-protection',
      async reconcile(key, signal) {
        const claim = claims.cache.get(key);
        if (claim?.metadata.deletionTimestamp === undefined) return done;
        if (pods.cache.list().some((pod) => keysOf(pod).includes(keyOf(claim)))) return done;
        const finalizers = (claim.metadata.finalizers ?? []).filter((name) => name !== protection);
        if (finalizers.length === claim.metadata.finalizers?.length) return done;
        const next = { ...claim, metadata: { ...claim.metadata, finalizers } };
        await client.update(resources.persistentVolumeClaims, next, { signal });
        return done;
      },
    })
    .watch(claims)
    .watchMapped(pods, keysOf);
}
