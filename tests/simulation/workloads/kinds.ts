import { type ClientRequest, type ResourceRef, resources } from '@sheaf/client';
import type { Ground } from '../kept-servers.ts';
import { definitionsOf } from '../kind-definitions.ts';

export const namespaceNames = ['red', 'blue'] as const;
export const nodeNames = ['one', 'two'] as const;

/** What users make; each kind has few names, so that things of one name come again. */
export const names = {
  deployments: ['web', 'api'],
  replicaSets: ['pool'],
  /** The first keeps its claims, the second lets them go with itself and with its pods. */
  statefulSets: ['db', 'kv'],
  daemonSets: ['log'],
  jobs: ['work', 'sums'],
  cronJobs: ['tick'],
} as const;

/** Whose deletion users ask for first. */
export const owners: readonly ResourceRef[] = [
  resources.cronJobs,
  resources.deployments,
  resources.statefulSets,
  resources.daemonSets,
  resources.jobs,
  resources.replicaSets,
];

/** What users and controllers make in namespaces. */
export const belongings: readonly ResourceRef[] = [
  ...owners,
  resources.pods,
  resources.controllerRevisions,
  resources.persistentVolumeClaims,
];

/** Machines are tenants of nodes too: the scheduler asks for them. */
const custom: readonly ResourceRef[] = [resources.virtualMachineInstances, resources.settings];

const servedKinds: readonly ResourceRef[] = [
  ...custom,
  ...belongings,
  resources.configMaps,
  resources.secrets,
  resources.services,
  resources.namespaces,
  resources.nodes,
  resources.events,
  resources.serviceAccounts,
  resources.priorityClasses,
  resources.storageClasses,
  resources.customResourceDefinitions,
  resources.apiServices,
];

const aside =
  /^\/apis?$|\/(events|storageclasses|configmaps|secrets|services|virtualmachineinstances|settings)(\/|\?|$)/;

/** What is written for people to read, and what is there before anything else is. */
export function isAside({ target }: ClientRequest): boolean {
  return aside.test(target);
}

const room = { cpu: '4', memory: '8Gi', pods: '40' };

/** What is there before anybody uses it: two nodes, and two namespaces. */
export const ground: Ground = {
  servedKinds,
  async prepare(client) {
    for (const definition of definitionsOf(custom))
      await client.create(resources.customResourceDefinitions, definition);
    for (const name of namespaceNames) {
      await client.create(resources.namespaces, { metadata: { name } });
      await client.create(resources.serviceAccounts, {
        metadata: { namespace: name, name: 'default' },
        automountServiceAccountToken: false,
      });
    }
    const classes = resources.storageClasses as ResourceRef;
    await client.create(classes, {
      metadata: { name: 'local' },
      provisioner: 'local.example.com',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    for (const name of nodeNames) {
      const node = await client.create(resources.nodes, { metadata: { name } });
      // A new node has the taint of one that is not ready.
      const bare = await client.update(resources.nodes, { ...node, spec: { taints: [] } });
      await client.updateStatus(resources.nodes, {
        ...bare,
        status: { allocatable: room, capacity: room, conditions: [{ type: 'Ready', status: 'True' }] },
      });
    }
  },
};
