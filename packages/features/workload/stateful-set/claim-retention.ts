import type { OwnerReference } from '@sheaf/api';
import type { PersistentVolumeClaim, StatefulSet } from '@sheaf/api/workload/index';
import { type JsonValue, jsonEqual } from '@sheaf/base';
import { controllerReference } from '../pods/ownership.ts';
import { claimsFor, firstOrdinal, ordinalOf, replicasOf } from './ordinal-pod.ts';
import type { StatefulSetFacts } from './plan.ts';

/** Claims whose owners are to change, with them: who owns a claim decides when it goes. */
export function planClaimOwners(facts: StatefulSetFacts): readonly PersistentVolumeClaim[] {
  const { set, pods, claims } = facts;
  if (!set.spec.persistentVolumeClaimRetentionPolicy || set.metadata.deletionTimestamp !== undefined)
    return [];
  const highest = Math.max(
    firstOrdinal(set) + replicasOf(set) - 1,
    ...pods.map((pod) => ordinalOf(pod, set) ?? -1),
  );
  const ordinals = Array.from({ length: highest + 1 }, (_, ordinal) => ordinal);
  return ordinals.flatMap((ordinal) => {
    const names = new Set(claimsFor(set, ordinal).map(({ metadata }) => metadata.name));
    return claims
      .filter(({ metadata }) => names.has(metadata.name) && metadata.deletionTimestamp === undefined)
      .flatMap((claim) => withOwners(facts, claim, ordinal));
  });
}

function withOwners(
  facts: StatefulSetFacts,
  claim: PersistentVolumeClaim,
  ordinal: number,
): readonly PersistentVolumeClaim[] {
  // Its pod has gone, and it goes with it or stays, as was settled before.
  if (isSurplus(facts.set, ordinal) && !podOf(facts, ordinal)) return [];
  const own = new Set([facts.set.metadata.uid, podOf(facts, ordinal)?.metadata.uid]);
  const before = claim.metadata.ownerReferences ?? [];
  const others = before.filter(({ uid, kind }) => !own.has(uid) && kind !== 'Pod');
  const ownerReferences = [...others, ...ownersFor(facts, ordinal)];
  if (jsonEqual(before as unknown as JsonValue, ownerReferences as unknown as JsonValue)) return [];
  return [{ ...claim, metadata: { ...claim.metadata, ownerReferences } }];
}

/** The set, if its claims go with it; the pod, if it is going because the set was scaled down and its claims go then. */
function ownersFor(facts: StatefulSetFacts, ordinal: number): readonly OwnerReference[] {
  const { set } = facts;
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const pod = podOf(facts, ordinal);
  if (isSurplus(set, ordinal) && whenScaled === 'Delete' && pod) {
    const {
      controller: _,
      blockOwnerDeletion: __,
      ...reference
    } = controllerReference(pod, { apiVersion: 'v1', kind: 'Pod' });
    return [reference];
  }
  return whenDeleted === 'Delete'
    ? [controllerReference(set, { apiVersion: 'apps/v1', kind: 'StatefulSet' })]
    : [];
}

function isSurplus(set: StatefulSet, ordinal: number): boolean {
  return ordinal < firstOrdinal(set) || ordinal >= firstOrdinal(set) + replicasOf(set);
}

function podOf(
  { pods, set }: StatefulSetFacts,
  ordinal: number,
): StatefulSetFacts['pods'][number] | undefined {
  return pods.find((pod) => ordinalOf(pod, set) === ordinal);
}
