import type { KubeObject } from '@sheaf/api';
import { ageCell, type CellSource, type CellSources, countOf, nameOf, or, shaped } from './cell-source.ts';

interface Claim {
  readonly status?: {
    readonly allocation?: object | null;
    readonly reservedFor?: readonly unknown[] | null;
  };
}

interface Slice {
  readonly spec?: {
    readonly nodeName?: string | null;
    readonly driver?: string;
    readonly pool?: { readonly name?: string };
  };
}

const nameAndAgeCells: CellSource = (object, now) => [nameOf(object), ageCell(object, now)];

function claimState(object: KubeObject): string {
  const { status } = shaped<Claim>(object);
  const isDeleted = Boolean(object.metadata.deletionTimestamp);
  if (!status?.allocation) return isDeleted ? 'deleted' : 'pending';
  const words = isDeleted ? ['deleted', 'allocated'] : ['allocated'];
  if (countOf(status.reservedFor) > 0) words.push('reserved');
  return words.join(',');
}

export const deviceCells: CellSources = {
  'resource.k8s.io/DeviceClass': nameAndAgeCells,
  'resource.k8s.io/ResourceClaimTemplate': nameAndAgeCells,
  'resource.k8s.io/ResourceClaim': (object, now) => [
    nameOf(object),
    claimState(object),
    ageCell(object, now),
  ],
  'resource.k8s.io/ResourceSlice': (object, now) => {
    const { spec } = shaped<Slice>(object);
    return [
      nameOf(object),
      or(spec?.nodeName, ''),
      or(spec?.driver, ''),
      or(spec?.pool?.name, ''),
      ageCell(object, now),
    ];
  },
};
