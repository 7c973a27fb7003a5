import type { KubeObject } from '@sheaf/api';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/index';
import { type ResourceRef, resources } from '@sheaf/client';

export const namespaceNames = ['red', 'blue'] as const;
export const machineNames = ['a', 'b'] as const;
export const claimNames = ['disk', 'data', 'copy'] as const;
export const snapshotNames = ['now', 'then'] as const;
export const imageNames = ['debian', 'suse'] as const;
export const classNames = ['longhorn', 'kept', 'full'] as const;

/** What users and controllers make in namespaces; deletions go in this order. */
export const belongings: readonly ResourceRef[] = [
  resources.virtualMachines,
  resources.virtualMachineInstances,
  resources.dataVolumes,
  resources.volumeSnapshots,
  resources.persistentVolumeClaims,
  resources.virtualMachineImages,
];

/** Kinds that the features read, and have to be served for that. */
const custom: readonly ResourceRef[] = [
  resources.virtualMachines,
  resources.virtualMachineInstances,
  resources.dataVolumes,
  resources.volumeSnapshots,
  resources.volumeSnapshotContents,
  resources.volumeSnapshotClasses,
  resources.virtualMachineImages,
  resources.virtualMachineTemplateVersions,
  resources.virtualMachineBackups,
  resources.networkAttachmentDefinitions,
  resources.settings,
];

/** All kinds that the controllers and their rules ask for. */
export const servedKinds: readonly ResourceRef[] = [
  ...custom,
  resources.namespaces,
  resources.nodes,
  resources.events,
  resources.persistentVolumes,
  resources.persistentVolumeClaims,
  resources.storageClasses,
  resources.csiDrivers,
  resources.controllerRevisions,
  resources.customResourceDefinitions,
  resources.apiServices,
];

const revisions = 'controllerrevisions';
const watched = new Set([...belongings.map(({ plural }) => plural), revisions]);

/** What garbage collection and namespaces look at: fewer kinds, so that more schedules fit into an hour. */
export function isWatched({ plural }: Pick<ResourceRef, 'plural'>): boolean {
  return watched.has(plural);
}

let definitions: readonly KubeObject[] | undefined;

/**
 * The definitions that Sheaf brings along, without their schemas: with subresources and scopes as they are, while every field is
 * let in. What schemas refuse and prune is tested elsewhere, and takes most of the time here.
 */
export function definitionsOfKinds(): readonly KubeObject[] {
  definitions ??= customResourceDefinitions(
    kindDefinitions().filter(({ name }) => custom.some(({ plural, group }) => name === `${plural}.${group}`)),
  ).map(withoutSchemas);
  return definitions;
}

interface Version {
  readonly name: string;
  readonly schema: unknown;
}

function withoutSchemas(definition: KubeObject): KubeObject {
  const spec = definition['spec'] as { readonly versions: readonly Version[] };
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  const versions = spec.versions.map((version) => ({ ...version, schema }));
  return { ...definition, spec: { ...spec, versions } };
}
