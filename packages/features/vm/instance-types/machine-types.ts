import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';

/** What a machine says of its instance type or preference. */
export interface Matcher {
  readonly name?: string | undefined;
  /** Of KubeVirt's kinds, or their plurals, in any case; absent: that of the cluster. */
  readonly kind?: string | undefined;
  readonly revisionName?: string | undefined;
  readonly inferFromVolume?: string | undefined;
  readonly inferFromVolumeFailurePolicy?: 'Reject' | 'Ignore' | undefined;
}

export type Purpose = 'instancetype' | 'preference';

/** Where what a matcher names is. */
export interface TypePlace {
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** KubeVirt's annotation of instances that were made with it. */
  readonly annotation: string;
}

export const typeGroup = 'instancetype.kubevirt.io';

export const typePlaces: Readonly<Record<Purpose, readonly [cluster: TypePlace, namespaced: TypePlace]>> = {
  instancetype: [
    placeOf('VirtualMachineClusterInstancetype', 'kubevirt.io/cluster-instancetype-name'),
    placeOf('VirtualMachineInstancetype', 'kubevirt.io/instancetype-name'),
  ],
  preference: [
    placeOf('VirtualMachineClusterPreference', 'kubevirt.io/cluster-preference-name'),
    placeOf('VirtualMachinePreference', 'kubevirt.io/preference-name'),
  ],
};

function placeOf(kind: string, annotation: string): TypePlace {
  return { kind, plural: `${kind.toLowerCase()}s`, isNamespaced: !kind.includes('Cluster'), annotation };
}

/** `undefined`: there is no such kind. */
export function placeFor(purpose: Purpose, { kind = '' }: Matcher): TypePlace | undefined {
  const [cluster, namespaced] = typePlaces[purpose];
  const wanted = kind.toLowerCase();
  if (wanted === '') return cluster;
  return [cluster, namespaced].find((each) => [each.plural, each.kind.toLowerCase()].includes(wanted));
}

export interface TypeObject extends KubeObject {
  readonly spec?: JsonObject;
}

/** What has been found of what a machine names. */
export interface FoundTypes {
  readonly instancetype?: TypeObject | undefined;
  readonly preference?: TypeObject | undefined;
}
