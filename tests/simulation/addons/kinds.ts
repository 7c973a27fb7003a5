import type { KubeObject } from '@sheaf/api';
import { type ClientRequest, type ResourceRef, resources } from '@sheaf/client';
import type { Ground } from '../kept-servers.ts';
import { definitionsOf } from '../kind-definitions.ts';

export const namespace = 'default';
export const addonNames = ['web', 'store'] as const;

const custom: readonly ResourceRef[] = [resources.addons, resources.helmCharts, resources.helmChartConfigs];

/** What add-ons are made of, and what goes with them. */
export const belongings: readonly ResourceRef[] = [
  ...custom,
  resources.jobs,
  resources.pods,
  resources.secrets,
  resources.configMaps,
  resources.serviceAccounts,
];

const servedKinds: readonly ResourceRef[] = [
  ...belongings,
  resources.clusterRoleBindings,
  resources.namespaces,
  resources.priorityClasses,
  // What may stay of a chart is looked for among them.
  resources.persistentVolumeClaims,
  resources.statefulSets,
  resources.events,
  resources.customResourceDefinitions,
  resources.apiServices,
];

const watched = new Set(belongings.map(({ plural }) => plural));

/** What garbage collection looks at. */
export function isWatched({ plural }: Pick<ResourceRef, 'plural'>): boolean {
  return watched.has(plural);
}

/** What is written for people to read. */
export function isAside({ target }: ClientRequest): boolean {
  return /^\/apis?$|\/events(\/|\?|$)/.test(target);
}

/** One namespace, and the definitions. */
export const ground: Ground = {
  servedKinds,
  async prepare(client) {
    for (const definition of definitionsOf(custom))
      await client.create(resources.customResourceDefinitions, definition);
    await client.create(resources.namespaces, { metadata: { name: namespace } });
    await client.create<KubeObject>(resources.priorityClasses, {
      metadata: { name: 'system-cluster-critical' },
      value: 2_000_000_000,
    });
  },
};
