import { identityOf, timestampOf, withCondition } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { type Clock, type Logger, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import {
  type ContainerImage,
  type ContainerImages,
  type Containers,
  type PodVolumes,
  readImageName,
} from '@sheaf/ports';
import { again, type ReconcileResult } from '@sheaf/runtime';
import { hasEnded } from '../pods/pod-state.ts';
import {
  diskDirectories,
  type Eviction,
  isPressed,
  type PodUse,
  planLimitEvictions,
  planPressureEviction,
} from './eviction-plan.ts';
import {
  type DiskRoom,
  isRoomShort,
  planCollection,
  type UnusedImages,
  wantedBytes,
} from './image-collection.ts';
import { keptImageIds } from './kept-images.ts';

export interface RoomParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly containers: Pick<Containers, 'capabilities' | 'listContainers'>;
  readonly images: Pick<ContainerImages, 'list' | 'remove'>;
  readonly volumes: Pick<PodVolumes, 'pods' | 'usedBytes'>;
  /** Of the file system that has images and pods; `undefined` where that cannot be told. */
  readonly disk: (signal: AbortSignal) => Promise<DiskRoom | undefined>;
  /** Of all namespaces and nodes. */
  readonly pods: () => readonly Pod[];
  /** Brought by a bundle, for hosts without a registry. */
  readonly isBundled: (image: ContainerImage) => boolean;
  readonly unused: UnusedImages;
  readonly tellPod: (pod: Pod, reason: string, message: string) => void;
  readonly tellNode: (reason: string, message: string) => void;
}

const lookMs = 30_000;
const pressedMs = 10_000;

/** One look at the room that is left on the disk of this node, and what it asks for. */
export async function reconcileRoom(parts: RoomParts, signal: AbortSignal): Promise<ReconcileResult> {
  if (!parts.containers.capabilities().containers.isAvailable) return again(lookMs);
  const uses = await usesOf(parts, signal);
  for (const eviction of planLimitEvictions(uses)) await evict(parts, eviction, signal);
  const room = await parts.disk(signal);
  if (!room || !isRoomShort(room)) {
    parts.unused.forget();
    return again(lookMs);
  }
  await collect(parts, room, signal);
  const left = await parts.disk(signal);
  if (!left || !isPressed(left)) return again(lookMs);
  parts.tellNode('EvictionThresholdMet', 'Attempting to reclaim ephemeral-storage');
  const eviction = planPressureEviction(await usesOf(parts, signal), left);
  if (eviction) await evict(parts, eviction, signal);
  return again(pressedMs);
}

/** Removes images that nobody needs until there is room again. */
async function collect(parts: RoomParts, room: DiskRoom, signal: AbortSignal): Promise<void> {
  const { images, clock, logger, tellNode } = parts;
  const wanted = wantedBytes(room);
  const unused = await unusedImages(parts, signal);
  const ages = parts.unused.look(
    unused.map(({ id }) => id),
    clock.monotonic(),
  );
  const collectable = unused.map(({ id, bytes }) => ({ id, bytes, unusedMs: ages.get(id) ?? 0 }));
  let freed = 0;
  for (const { id, bytes } of planCollection(collectable, wanted))
    try {
      await images.remove(id, signal);
      freed += bytes;
      logger.info('an image was removed, for the disk runs full', { image: id, bytes });
    } catch (error) {
      // Somebody has begun to use it, or it has gone: the next look decides anew.
      if (!StatusError.is(error, 'Conflict') && !StatusError.is(error, 'NotFound')) throw error;
      logger.debug('an image was not removed', { image: id, cause: toError(error) });
    }
  if (freed < wanted)
    tellNode(
      'FreeDiskSpaceFailed',
      `Failed to garbage collect required amount of images. Attempted to free ${wanted} bytes, but only found ${freed} bytes eligible to free; make room: delete volumes, images or snapshots of machines, or imported images (sheaf images rm)`,
    );
}

/** Those that no container is made from, no pod asks for, and nobody has brought by hand. */
async function unusedImages(parts: RoomParts, signal: AbortSignal): Promise<readonly ContainerImage[]> {
  const [all, containers, kept] = await Promise.all([
    parts.images.list(signal),
    parts.containers.listContainers(signal),
    keptImageIds(parts.client, signal),
  ]);
  const inUse = new Set(containers.map(({ imageId }) => imageId));
  const wanted = new Set(
    parts
      .pods()
      .filter((pod) => !hasEnded(pod))
      .flatMap(imageNames),
  );
  return all.filter(
    (image) =>
      // The programs of the host are images that take no room.
      image.bytes > 0 &&
      !inUse.has(image.id) &&
      !kept.has(image.id) &&
      ![image.id, ...image.tags, ...image.digests].some((name) => wanted.has(name)) &&
      !parts.isBundled(image),
  );
}

function imageNames({ spec }: Pod): readonly string[] {
  const { initContainers = [], ephemeralContainers = [] } = spec;
  return [...initContainers, ...spec.containers, ...ephemeralContainers].flatMap(({ image = '' }) => [
    image,
    readImageName(image)?.stored ?? image,
  ]);
}

/** The pods of this node with what they have on its disk. */
async function usesOf(
  { pods, nodeName, volumes }: RoomParts,
  signal: AbortSignal,
): Promise<readonly PodUse[]> {
  const there = new Set(await volumes.pods(signal));
  const uses: PodUse[] = [];
  for (const pod of pods()) {
    const { uid } = identityOf(pod);
    if (pod.spec.nodeName !== nodeName) continue;
    const bytes = new Map<string, number>();
    if (there.has(uid))
      for (const { name } of diskDirectories(pod))
        bytes.set(name, await bytesIn(volumes, { uid, name }, signal));
    uses.push({ pod, bytes, isThere: there.has(uid) });
  }
  return uses;
}

/** One that is not made yet has nothing in it. */
async function bytesIn(
  volumes: RoomParts['volumes'],
  { uid, name }: { readonly uid: string; readonly name: string },
  signal: AbortSignal,
): Promise<number> {
  try {
    return await volumes.usedBytes(uid, name, signal);
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
    return 0;
  }
}

/** Says that it is over; the node agent ends what runs and gives back its room. */
async function evict(parts: RoomParts, { pod, message }: Eviction, signal: AbortSignal): Promise<void> {
  const { client, clock, tellPod } = parts;
  const { status = {} } = pod;
  const disruption = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
  } as const;
  const conditions = withCondition(status.conditions ?? [], disruption, timestampOf(clock));
  try {
    await client.updateStatus(
      resources.pods,
      { ...pod, status: { ...status, phase: 'Failed', reason: 'Evicted', message, conditions } },
      { signal },
    );
  } catch (error) {
    // It has changed meanwhile, or is gone: the next look decides anew.
    if (!StatusError.is(error, 'Conflict') && !StatusError.is(error, 'NotFound')) throw error;
    return;
  }
  tellPod(pod, 'Evicted', message);
}
