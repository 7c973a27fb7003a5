import type { KubeObject } from '@sheaf/api';
import { type ResourceRef, resources } from '@sheaf/client';

const custom = { group: 'example.com', version: 'v1' };

export const widgets: ResourceRef = { ...custom, plural: 'widgets', kind: 'Widget', namespaced: true };
export const gadgets: ResourceRef = { ...custom, plural: 'gadgets', kind: 'Gadget', namespaced: false };

/** The kinds that random objects are of. */
export const kinds: readonly ResourceRef[] = [
  resources.configMaps,
  resources.secrets,
  resources.clusterRoles,
  widgets,
  gadgets,
];

export const customKinds: readonly ResourceRef[] = [widgets, gadgets];

/** What the controllers look at in a simulation: fewer kinds, so that more schedules fit into an hour. */
const watched = new Set([...kinds.map(({ plural }) => plural), 'serviceaccounts']);

export function isWatched({ plural }: Pick<ResourceRef, 'plural'>): boolean {
  return watched.has(plural);
}

/** Own kinds and those that the features make or hold. */
export const recorded: readonly ResourceRef[] = [
  ...kinds,
  resources.namespaces,
  resources.serviceAccounts,
  resources.customResourceDefinitions,
];

export function definitionOf({ group, version, plural, kind, namespaced }: ResourceRef): KubeObject {
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural, kind },
      versions: [
        { name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  };
}

export const holdFinalizer = 'example.com/hold';
export const namespaceNames = ['red', 'green', 'blue'] as const;
export const objectNames = ['a', 'b', 'c', 'd', 'e'] as const;
