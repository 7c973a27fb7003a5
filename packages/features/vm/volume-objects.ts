import type { KubeObject } from '@sheaf/api';
import type { DataVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { compareQuantities, isJsonObject, type JsonValue, parseQuantity } from '@sheaf/base';
import { hasOwners, isOwnedBy, withOwner, withoutOwner } from './claim-owners.ts';
import { claimNameOf } from './instance-spec.ts';
import { claimTemplatesAnnotation } from './rules/harvester-rules.ts';
import { ownerReferenceTo, type VirtualMachine } from './virtual-machine.ts';

/** Names of claims, with commas, that go with a machine that is deleted; all others stay. */
const removedClaimsAnnotation = 'harvesterhci.io/removedPersistentVolumeClaims';
const createdByLabel = 'kubevirt.io/created-by';

export type VolumeStep =
  | { readonly action: 'create-claim'; readonly claim: PersistentVolumeClaim }
  | { readonly action: 'update-claim'; readonly claim: PersistentVolumeClaim }
  | { readonly action: 'delete-claim'; readonly claim: PersistentVolumeClaim }
  | { readonly action: 'create-data-volume'; readonly dataVolume: DataVolume };

/** What there is in the namespace of a machine. */
export interface VolumeObjects {
  readonly claims: readonly PersistentVolumeClaim[];
  readonly dataVolumes: readonly DataVolume[];
}

/** What is to be done about the volumes that a machine brings along; in any order, each again if need be. */
export function planVolumes(machine: VirtualMachine, { claims, dataVolumes }: VolumeObjects): VolumeStep[] {
  const byName = new Map(claims.map((claim) => [claim.metadata.name ?? '', claim]));
  const templates = claimTemplatesOf(machine);
  const missing = templates.filter(({ metadata }) => !byName.has(metadata.name ?? ''));
  const sizes = new Map(templates.map((template) => [template.metadata.name ?? '', requestOf(template)]));
  return [
    ...missing.map((claim) => ({
      action: 'create-claim' as const,
      claim: ownedClaim(claim, machine, true),
    })),
    ...claims.flatMap((claim) => claimUpdate(claim, machine, sizes.get(claim.metadata.name ?? ''))),
    ...newDataVolumes(machine, byName, dataVolumes),
  ];
}

/**
 * What becomes of the claims of a machine that goes: those that are named go with it, unless another machine has them, too; the
 * others are nobody's.
 */
export function planRelease(
  machine: VirtualMachine,
  claims: readonly PersistentVolumeClaim[],
): readonly VolumeStep[] {
  const removed = new Set(removedClaimsOf(machine));
  return claims.flatMap((claim): VolumeStep[] => {
    const next = ownedClaim(claim, machine, false);
    if (removed.has(claim.metadata.name ?? '') && !hasOwners(next.metadata.annotations))
      return claim.metadata.deletionTimestamp === undefined ? [{ action: 'delete-claim', claim }] : [];
    return next === claim ? [] : [{ action: 'update-claim', claim: next }];
  });
}

/** Claims that a machine brings along. What is no list of claims was let in under other rules, and is none. */
export function claimTemplatesOf({ metadata }: KubeObject): readonly PersistentVolumeClaim[] {
  const { namespace = '', annotations = {} } = metadata;
  const templates = parsed(annotations[claimTemplatesAnnotation] ?? '');
  if (!Array.isArray(templates)) return [];
  return templates.flatMap((template): PersistentVolumeClaim[] => {
    const { metadata: meta, spec } = isJsonObject(template) ? template : {};
    if (!isJsonObject(meta) || !isJsonObject(spec) || typeof meta['name'] !== 'string') return [];
    const { name, labels = {}, annotations: own = {} } = meta as unknown as KubeObject['metadata'];
    return [
      {
        metadata: { name: name ?? '', namespace, labels, annotations: own },
        spec,
      },
    ];
  });
}

function removedClaimsOf({ metadata }: VirtualMachine): readonly string[] {
  const names = metadata.annotations?.[removedClaimsAnnotation] ?? '';
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Its size where the template has outgrown it, and the machine among its owners for as long as it uses the claim. */
function claimUpdate(
  claim: PersistentVolumeClaim,
  machine: VirtualMachine,
  size: string | undefined,
): VolumeStep[] {
  const isUsed = (machine.spec.template.spec.volumes ?? []).some(
    (volume) => claimNameOf(volume) === claim.metadata.name,
  );
  const owned = ownedClaim(claim, machine, isUsed);
  const next = size !== undefined && isLarger(size, requestOf(claim)) ? withRequest(owned, size) : owned;
  if (next === claim || claim.metadata.deletionTimestamp !== undefined) return [];
  return [{ action: 'update-claim', claim: next }];
}

function ownedClaim(
  claim: PersistentVolumeClaim,
  { metadata: { namespace = '', name = '' } }: VirtualMachine,
  isOwned: boolean,
): PersistentVolumeClaim {
  const machine = `${namespace}/${name}`;
  const { annotations } = claim.metadata;
  if (isOwnedBy(annotations, machine) === isOwned) return claim;
  const next = isOwned ? withOwner(annotations, machine) : withoutOwner(annotations, machine);
  return { ...claim, metadata: { ...claim.metadata, annotations: { ...next } } };
}

function newDataVolumes(
  machine: VirtualMachine,
  claims: ReadonlyMap<string, PersistentVolumeClaim>,
  dataVolumes: readonly DataVolume[],
): VolumeStep[] {
  const there = new Set(dataVolumes.map(({ metadata }) => metadata.name));
  const templates = (machine.spec.dataVolumeTemplates ?? []) as readonly DataVolume[];
  return templates
    .filter(({ metadata: { name = '' } }) => !there.has(name) && !claims.has(name))
    .map((template) => ({ action: 'create-data-volume', dataVolume: dataVolumeOf(template, machine) }));
}

function dataVolumeOf({ metadata, spec }: DataVolume, machine: VirtualMachine): DataVolume {
  const { name = '', labels, annotations } = metadata;
  return {
    metadata: {
      name,
      namespace: machine.metadata.namespace ?? '',
      labels: { ...labels, [createdByLabel]: machine.metadata.uid ?? '' },
      annotations: { ...annotations },
      ownerReferences: [ownerReferenceTo(machine)],
    },
    spec,
  };
}

function requestOf({ spec }: PersistentVolumeClaim): string | undefined {
  return spec.resources?.requests?.['storage'];
}

function withRequest(claim: PersistentVolumeClaim, storage: string): PersistentVolumeClaim {
  const { resources } = claim.spec;
  const requests = { ...resources?.requests, storage };
  return { ...claim, spec: { ...claim.spec, resources: { ...resources, requests } } };
}

function isLarger(size: string, than: string | undefined): boolean {
  return than !== undefined && compareQuantities(parseQuantity(size), parseQuantity(than)) > 0;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
