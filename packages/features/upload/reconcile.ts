import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  uploadImageIdOf,
} from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Images } from '@sheaf/ports';
import { done, type ObjectCache, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { planUpload, type UploadFacts, type UploadStep, uploadFinalizer } from './plan.ts';

export interface UploadParts {
  readonly client: Client;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly volumes: ObjectCache<PersistentVolume>;
  readonly images: Pick<Images, 'find' | 'request' | 'remove'>;
}

const transientMs = 5000;

/** One pass over a claim that is uploaded to: one step. */
export async function reconcileUpload(
  parts: UploadParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const claim = parts.claims.get(key);
  if (!claim || !isConcerned(claim)) return done;
  const facts = await readUpload(parts, claim, signal);
  return takeStep(parts, { step: planUpload(facts), facts }, signal);
}

/** Others are never looked at with the image port. */
export function isConcerned({ metadata }: PersistentVolumeClaim): boolean {
  const { annotations = {}, finalizers = [] } = metadata;
  return 'cdi.kubevirt.io/storage.upload.target' in annotations || finalizers.includes(uploadFinalizer);
}

async function readUpload(
  { images, volumes }: UploadParts,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<UploadFacts> {
  const id = uploadImageIdOf(claim);
  return {
    claim,
    image: await images.find(id, signal),
    isImageOwned: volumes.list().some((volume) => ownImageOf(volume) === id),
  };
}

/** The volume feature notes there which image goes with a volume. */
function ownImageOf({ spec }: PersistentVolume): string | undefined {
  return spec.csi?.volumeAttributes?.['sheaf.dev/own-image'];
}

async function takeStep(
  { client, images }: UploadParts,
  { step, facts }: { readonly step: UploadStep; readonly facts: UploadFacts },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  switch (step.action) {
    case 'none':
      return done;
    case 'update-claim':
      await client.update(resources.persistentVolumeClaims, step.claim, { signal });
      return done;
    case 'request-image':
      await images.request(step.order, signal);
      return done;
    case 'let-go':
      return letGo({ client, images }, { step, id: uploadImageIdOf(facts.claim) }, signal);
  }
}

/** What was sent may be in use by a volume that has no object yet: then it soon has one, or goes with its claim. */
async function letGo(
  { client, images }: Pick<UploadParts, 'client' | 'images'>,
  { step, id }: { readonly step: Extract<UploadStep, { action: 'let-go' }>; readonly id: string },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  try {
    await images.remove(id, signal);
  } catch (error) {
    if (!StatusError.is(error, 'Conflict')) throw error;
    return waitFor(error.message, transientMs);
  }
  await client.update(resources.persistentVolumeClaims, step.released, { signal });
  return done;
}
