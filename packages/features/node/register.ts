import type { ApiExtensions } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import { type Client, resources } from '@sheaf/client';
import type { Host, Hypervisor } from '@sheaf/ports';
import type { Manager } from '@sheaf/runtime';
import { nodeRule } from './admission.ts';
import { markAnnotation } from './machine-power.ts';
import { isInMaintenance } from './maintenance-plan.ts';
import type { NodeContainers } from './node-conditions.ts';
import { reconcileNode } from './reconcile.ts';
import { reconcileMaintenance } from './reconcile-maintenance.ts';
import { nodeRoutes } from './routes.ts';

export interface NodeOptions {
  readonly host: Host;
  readonly hypervisor: Pick<Hypervisor, 'capabilities'>;
  /** What runs pods here, as far as that is known now. */
  readonly containers: () => NodeContainers;
  /** Of this host; it stays the same when the host is called otherwise. */
  readonly nodeName: string;
  /** Of Sheaf, as nodes tell it: `v1.36.0+sheaf`. */
  readonly version: string;
}

export type { NodeContainers } from './node-conditions.ts';

/** What can be asked of nodes, and what is said when they are closed; added while the server is put together. */
export function extend(api: ApiExtensions, { client }: { readonly client: Client }): void {
  api.addAdmission(nodeRule);
  for (const route of nodeRoutes(client)) api.addRoute(route);
}

/** Keeps the node of this host true and heard of, and carries out its maintenance. */
export function register(manager: Manager, options: NodeOptions): void {
  const { client, clock } = manager;
  const { host, hypervisor, containers, nodeName, version } = options;
  const nodes = manager.informer(resources.nodes);
  const machines = manager.informer(resources.virtualMachines);
  const instances = manager.informer(resources.virtualMachineInstances);
  const pods = manager.informer(resources.pods);
  const abilities = () => hypervisor.capabilities();
  const parts = { client, clock, host, abilities, containers, nodeName, version, nodes: nodes.cache };
  const controller = manager.controller({
    name: 'node',
    reconcile: (name, signal) => reconcileNode(parts, name, signal),
  });
  controller.watch(nodes);
  controller.queue.add(nodeName);
  manager
    .controller({
      name: 'node-maintenance',
      reconcile: (name, signal) =>
        reconcileMaintenance(
          {
            client,
            clock,
            nodes: nodes.cache,
            machines: machines.cache,
            instances: instances.cache,
            pods: pods.cache,
          },
          name,
          signal,
        ),
    })
    .watch(nodes)
    .watchMapped(machines, ({ metadata }) => nodeOf(metadata.annotations?.[markAnnotation]))
    .watchMapped(instances, ({ status }) => nodeOf(inMaintenance(nodes.cache.get(status?.nodeName ?? ''))))
    .watchMapped(pods, ({ spec }) => nodeOf(inMaintenance(nodes.cache.get(spec.nodeName ?? ''))));
}

function nodeOf(name: string | undefined): readonly string[] {
  return name === undefined || name === '' ? [] : [name];
}

/** Instances change often, and matter only while their node is in maintenance. */
function inMaintenance(node: NodeObject | undefined): string | undefined {
  return node && isInMaintenance(node) ? node.metadata.name : undefined;
}
