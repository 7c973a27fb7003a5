import { identityOf, type KubeObject } from '@sheaf/api';
import type { PersistentVolumeClaim, VolumeSnapshot } from '@sheaf/api/virtualization/index';

/** `NAMESPACE/NAME` of the claim that a snapshot in another namespace was taken for: it cannot go with it by itself. */
const claimAnnotation = 'sheaf.dev/copy-for';

/** Copies with the same value hold what their sources had at one moment; the second says how many they are. */
const momentAnnotations = ['sheaf.dev/moment', 'sheaf.dev/moment-size'] as const;

const prefix = 'clone-';

/** The snapshot that a claim is filled from when a machine writes to its source. */
export function copyNameOf({ metadata }: PersistentVolumeClaim): string {
  return `${prefix}${metadata.uid ?? ''}`;
}

/** False for what only says that it was taken for a claim. */
export function isCopy({ metadata }: VolumeSnapshot): boolean {
  return metadata.name?.startsWith(prefix) === true;
}

/** True if it is to hold what its source has at one moment with those of others. */
export function isOfMoment(claim: PersistentVolumeClaim): boolean {
  return Object.keys(momentOf(claim)).length === momentAnnotations.length;
}

function momentOf({ metadata }: PersistentVolumeClaim): Readonly<Record<string, string>> {
  const { annotations = {} } = metadata;
  return Object.fromEntries(
    momentAnnotations.flatMap((key) => {
      const value = annotations[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Where the source is, so is the snapshot; in the namespace of the claim it belongs to it. */
export function copySnapshot(
  claim: PersistentVolumeClaim,
  source: { readonly namespace: string; readonly name: string },
): VolumeSnapshot {
  const { namespace, name, uid } = identityOf(claim);
  const owner = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, uid };
  const moment = isOfMoment(claim) ? momentOf(claim) : {};
  const isNear = source.namespace === namespace;
  const annotations = isNear ? moment : { ...moment, [claimAnnotation]: `${namespace}/${name}` };
  const tie = {
    ...(isNear ? { ownerReferences: [owner] } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
  return {
    metadata: { name: copyNameOf(claim), namespace: source.namespace, ...tie },
    spec: {
      source: { persistentVolumeClaimName: source.name },
      volumeSnapshotClassName: 'longhorn-snapshot',
    },
  };
}

/** The claim in another namespace that a snapshot was taken for. */
export function copiedFor({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[claimAnnotation];
}

/** What was taken for a claim, wherever it is. */
export function findCopy(
  claim: PersistentVolumeClaim,
  snapshots: readonly VolumeSnapshot[],
): VolumeSnapshot | undefined {
  const name = copyNameOf(claim);
  const { namespace, name: claimName } = claim.metadata;
  return snapshots.find(
    (each) =>
      each.metadata.name === name &&
      (each.metadata.namespace === namespace || copiedFor(each) === `${namespace ?? ''}/${claimName ?? ''}`),
  );
}
