import type { PersistentVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Images, Volumes } from '@sheaf/ports';
import { done, type ObjectCache, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { phaseOf, planVolume, unprotected, type VolumeFacts } from './release-plan.ts';

export interface VolumeParts {
  readonly client: Client;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly objects: ObjectCache<PersistentVolume>;
  readonly volumes: Pick<Volumes, 'find' | 'remove'>;
  readonly images: Pick<Images, 'remove'>;
}

const againMs = 10_000;

/** One pass over a volume object: its phase, then one step. */
export async function reconcileVolume(
  parts: VolumeParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const volume = parts.objects.get(key);
  if (!volume) return done;
  const facts = { volume, claim: await findClaim(parts, volume, signal) };
  const step = planVolume(facts);
  switch (step.action) {
    case 'remove':
      return removeData(parts, { facts, step }, signal);
    case 'update':
      await parts.client.update(resources.persistentVolumes, step.volume, { signal });
      return done;
    case 'none':
      await writePhase(parts.client, facts, { signal });
      return done;
  }
}

/** That a claim is gone is asked at the server: the data may go with it. */
async function findClaim(
  { client, claims }: VolumeParts,
  { spec }: PersistentVolume,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim | undefined> {
  const { namespace = '', name = '', uid } = spec.claimRef ?? {};
  if (uid === undefined) return undefined;
  const known = claims.get(`${namespace}/${name}`);
  if (known?.metadata.uid === uid) return known;
  const found = await client.find(resources.persistentVolumeClaims, { namespace, name }, signal);
  return found?.metadata.uid === uid ? found : undefined;
}

interface Removal {
  readonly facts: VolumeFacts;
  readonly step: Extract<ReturnType<typeof planVolume>, { action: 'remove' }>;
}

async function removeData(
  { client, volumes, images }: VolumeParts,
  { facts, step }: Removal,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  try {
    // Removing announces a change, which leads here again: what is gone while its image is still in use is left alone.
    if (await volumes.find(step.volumeId, signal)) await volumes.remove(step.volumeId, signal);
    if (step.ownImageId !== undefined) await images.remove(step.ownImageId, signal);
  } catch (error) {
    if (!StatusError.is(error, 'Conflict')) throw error;
    await writePhase(client, facts, { signal, message: error.message });
    return waitFor(error.message, againMs);
  }
  const { name = '', uid = '', deletionTimestamp } = facts.volume.metadata;
  if (deletionTimestamp === undefined) {
    await client.delete(resources.persistentVolumes, { name }, { uid, signal });
    return done;
  }
  const freed = unprotected(facts.volume);
  if (freed.action === 'update') await client.update(resources.persistentVolumes, freed.volume, { signal });
  return done;
}

async function writePhase(
  client: Client,
  facts: VolumeFacts,
  { signal, message }: { readonly signal: AbortSignal; readonly message?: string },
): Promise<void> {
  const { volume } = facts;
  const phase = phaseOf(facts);
  const old = volume.status ?? {};
  if (old.phase === phase && old.message === message) return;
  const status = { phase, ...(message === undefined ? {} : { message, reason: 'VolumeInUse' }) };
  await client.updateStatus(resources.persistentVolumes, { ...volume, status }, { signal });
}
