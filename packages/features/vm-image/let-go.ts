import { timestampOf, waitingCondition } from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { done, keyOf, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { withConditions } from './image-conditions.ts';
import { classNamesOf, imageFinalizer } from './image-names.ts';
import { namesOf, usersOf } from './image-users.ts';
import type { ImageParts } from './reconcile.ts';
import { standsFor } from './storage-class.ts';
import { snapshotFor } from './volume-source.ts';

/** Volumes go a moment after their claims. */
const lookAgainMs = 5000;

/** Removes what there is of an image that is being deleted, then lets the object go. */
export async function letGo(
  parts: ImageParts,
  image: VirtualMachineImage,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { finalizers = [], uid = '' } = image.metadata;
  if (!finalizers.includes(imageFinalizer)) return done;
  const obstacle = currentUsers(parts, image) ?? (await removeContent(parts, uid, signal));
  if (obstacle !== undefined) return holdBack(parts, { image, obstacle }, signal);
  parts.uploads.forget(uid);
  await removeSnapshot(parts, image, signal);
  await removeClasses(parts, image, signal);
  const metadata = { ...image.metadata, finalizers: finalizers.filter((name) => name !== imageFinalizer) };
  await parts.client.update(resources.virtualMachineImages, { ...image, metadata }, { signal });
  return done;
}

/** Deletion is refused while there are any; some may have come at the same moment. */
function currentUsers({ caches }: ImageParts, image: VirtualMachineImage): string | undefined {
  const users = usersOf(image, {
    claims: caches.claims.list(),
    templateVersions: caches.templateVersions.list(),
    backups: caches.backups.list(),
  });
  return users.length === 0 ? undefined : `it is in use by ${namesOf(users)}; remove these first`;
}

/** Why it cannot be removed yet. */
async function removeContent(
  { images }: ImageParts,
  uid: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await images.remove(uid, signal);
    return undefined;
  } catch (error) {
    if (StatusError.is(error, 'Conflict')) return error.message;
    throw error;
  }
}

/** What was taken to make it from is not needed when it is there, or not wanted. */
export async function removeSnapshot(
  { client, caches }: ImageParts,
  image: VirtualMachineImage,
  signal: AbortSignal,
): Promise<void> {
  if (image.spec.sourceType !== 'export-from-volume') return;
  const known = caches.snapshots.get(keyOf(snapshotFor(image)));
  if (!known || known.metadata.deletionTimestamp !== undefined) return;
  const { namespace = '', name = '' } = known.metadata;
  try {
    await client.delete(resources.volumeSnapshots, { namespace, name }, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

async function removeClasses(
  { client, caches }: ImageParts,
  image: VirtualMachineImage,
  signal: AbortSignal,
): Promise<void> {
  for (const name of classNamesOf(image)) {
    const known = caches.classes.get(name);
    if (known && !standsFor(known, image)) continue;
    try {
      await client.delete(resources.storageClasses, { name }, { signal });
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }
}

async function holdBack(
  { client, clock }: ImageParts,
  { image, obstacle }: { readonly image: VirtualMachineImage; readonly obstacle: string },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const condition = waitingCondition(
    { type: 'Removable', status: 'False' },
    { reason: 'InUse', text: obstacle, nature: 'transient' },
  );
  const before = image.status ?? {};
  const status = withConditions(before, timestampOf(clock), condition);
  if (status !== before)
    await client.update(resources.virtualMachineImages, { ...image, status }, { signal });
  return waitFor('InUse', lookAgainMs);
}
