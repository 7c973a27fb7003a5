import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  storageDriver,
} from '@sheaf/api/virtualization/index';
import type { Volumes } from '@sheaf/ports';
import type { ObjectCache } from '@sheaf/runtime';
import { claimNameOf, type VolumeSpec } from './instance-spec.ts';
import type { ClaimFact, ClaimFacts } from './volume-facts.ts';

export interface ClaimSources {
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly persistentVolumes: ObjectCache<PersistentVolume>;
  readonly volumes: Pick<Volumes, 'find'>;
}

/** Looks at the claims that volumes are on, and at what lies behind them. */
export async function readClaims(
  sources: ClaimSources,
  place: { readonly namespace: string; readonly volumes: readonly VolumeSpec[] | undefined },
  signal: AbortSignal,
): Promise<ClaimFacts> {
  const names = new Set((place.volumes ?? []).flatMap((volume) => claimNameOf(volume) ?? []));
  const facts = [...names].map(
    async (name) => [name, await readClaim(sources, `${place.namespace}/${name}`, signal)] as const,
  );
  return new Map(await Promise.all(facts));
}

async function readClaim(sources: ClaimSources, key: string, signal: AbortSignal): Promise<ClaimFact> {
  const claim = sources.claims.get(key);
  if (!claim) return { state: 'missing' };
  if (claim.status?.phase === 'Lost')
    return {
      state: 'failed',
      message: 'The volume of a claim is lost',
      wayOut: 'delete the claim and make it again',
    };
  if (claim.status?.phase !== 'Bound') return { state: 'unbound' };
  const volume = await sources.volumes.find(handleOf(sources, claim), signal);
  return volume ? { state: 'ready', file: volume.file, isBusy: volume.isBusy } : { state: 'preparing' };
}

/** A claim that took up a volume which was there before has one that was made for another claim. */
function handleOf({ persistentVolumes }: ClaimSources, { metadata, spec }: PersistentVolumeClaim): string {
  const csi = persistentVolumes.get(spec.volumeName ?? '')?.spec.csi;
  return csi?.driver === storageDriver ? csi.volumeHandle : (metadata.uid ?? '');
}
