import { resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import { reconcileLostPod } from './reconcile.ts';

/** Removes pods whose node has been deleted; those of this host's node stay. */
export function register(manager: Manager, { nodeName }: { readonly nodeName: string }): void {
  const { client, clock } = manager;
  const pods = manager.informer(resources.pods);
  const nodes = manager.informer(resources.nodes);
  const parts = {
    client,
    clock,
    nodeName,
    pods: pods.cache,
    nodes: nodes.cache,
    missing: new Map<string, number>(),
  };
  manager
    .controller({
      name: 'lost-pod',
      reconcile: (key, signal) => reconcileLostPod(parts, key, signal),
      ready: () => nodes.synced(),
    })
    .watch(pods)
    .watchMapped(nodes, ({ metadata }) =>
      pods.cache
        .list()
        .filter(({ spec }) => spec.nodeName === metadata.name)
        .map(keyOf),
    );
}
