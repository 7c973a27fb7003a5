import type { KubeObject } from '@sheaf/api';
import { type ResourceRef, resources } from '@sheaf/client';
import { definitionsOf } from '../kind-definitions.ts';

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
  resources.pods,
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

export function definitionsOfKinds(): readonly KubeObject[] {
  definitions ??= definitionsOf(custom);
  return definitions;
}
