import type { AdmissionObjects, GroupResource, KubeObject } from '@sheaf/api';
import type { Upgrade } from '@sheaf/api/virtualization/index';

/** What stands in the way of an upgrade. */
export interface Obstacle {
  readonly reason: 'BadRequest' | 'Conflict' | 'Invalid';
  readonly message: string;
  /** With the command that clears it. */
  readonly wayOut: string;
}

export interface CheckFacts {
  readonly upgrade: Upgrade;
  readonly objects: AdmissionObjects;
}

export type Check = (facts: CheckFacts) => Obstacle | undefined;

export const resourcesOfChecks = {
  addons: { group: 'harvesterhci.io', resource: 'addons' },
  upgrades: { group: 'harvesterhci.io', resource: 'upgrades' },
  versions: { group: 'harvesterhci.io', resource: 'versions' },
  images: { group: 'harvesterhci.io', resource: 'virtualmachineimages' },
  backups: { group: 'harvesterhci.io', resource: 'virtualmachinebackups' },
  restores: { group: 'harvesterhci.io', resource: 'virtualmachinerestores' },
  schedules: { group: 'harvesterhci.io', resource: 'schedulevmbackups' },
  machines: { group: 'kubevirt.io', resource: 'virtualmachines' },
  instances: { group: 'kubevirt.io', resource: 'virtualmachineinstances' },
  nodes: { group: '', resource: 'nodes' },
  claims: { group: '', resource: 'persistentvolumeclaims' },
  drivers: { group: 'storage.k8s.io', resource: 'csidrivers' },
} as const satisfies Readonly<Record<string, GroupResource>>;

export function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? (name ?? '') : `${namespace}/${name}`;
}

/** `kubectl VERB KIND NAME -n NAMESPACE` for each, after one another. */
export function commands(verb: string, kind: string, objects: readonly KubeObject[]): string {
  return objects
    .map(({ metadata: { namespace, name } }) => {
      const place = namespace === undefined ? '' : ` -n ${namespace}`;
      return `kubectl ${[verb, kind, name].filter((word) => word !== '').join(' ')}${place}`;
    })
    .join('; ');
}
