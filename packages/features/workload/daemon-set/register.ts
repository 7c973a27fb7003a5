import { resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import { revisionHashLabel } from '../pods/controller-revision.ts';
import { registerRevisioned } from '../pods/revisioned-register.ts';
import { reconcileDaemonSet } from './reconcile.ts';
import { RestAfterFailure } from './rest-after-failure.ts';

const kind = {
  name: 'daemon-set',
  component: 'daemonset-controller',
  resource: resources.daemonSets,
  hashLabel: revisionHashLabel,
};

/** Keeps a pod on each node that a DaemonSet means. */
export function register(manager: Manager): void {
  const { clock } = manager;
  const nodes = manager.informer(resources.nodes);
  const rests = new RestAfterFailure(clock);
  const { controller, sets } = registerRevisioned(manager, kind, (parts, key, signal) =>
    reconcileDaemonSet({ ...parts, clock, rests, nodes: nodes.cache }, key, signal),
  );
  controller.watchMapped(nodes, () => sets.cache.list().map(keyOf));
}
