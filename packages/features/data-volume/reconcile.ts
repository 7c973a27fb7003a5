import { asJson, timestampOf, type Waiting } from '@sheaf/api';
import type {
  DataVolume,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { type Clock, jsonEqual, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { ContainerDisks, ImageOrder, Images } from '@sheaf/ports';
import {
  again,
  done,
  type EventRecorder,
  type ObjectCache,
  type ReconcileResult,
  waitFor,
} from '@sheaf/runtime';
import { planDataVolumeStatus } from './data-volume-status.ts';
import { type DataVolumeFacts, type DataVolumeStep, planDataVolume, retryInMs } from './plan.ts';
import { authoritiesOf, fetchDisk } from './registry-disk.ts';
import { type SourceOrder, sourceOrderOf } from './source-plan.ts';

export interface DataVolumeParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly dataVolumes: ObjectCache<DataVolume>;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly volumes: ObjectCache<PersistentVolume>;
  readonly snapshots: ObjectCache<VolumeSnapshot>;
  readonly images: Pick<Images, 'find' | 'request' | 'remove'>;
  /** Absent: this host has none. */
  readonly containers?: Pick<ContainerDisks, 'fetch'> | undefined;
}

const faultMs = 60_000;
const transientMs = 5000;

/** One pass over a data volume: one step, then its status. */
export async function reconcileDataVolume(
  parts: DataVolumeParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const dataVolume = parts.dataVolumes.get(key);
  if (!dataVolume) return done;
  const facts = await readDataVolume(parts, dataVolume, signal);
  const step = planDataVolume(facts);
  const waiting = await takeStep(parts, { step, facts }, signal);
  const isGoing = dataVolume.metadata.deletionTimestamp !== undefined;
  if (step.action === 'wait' || (step.action !== 'update' && !isGoing))
    await writeStatus(parts, { facts, waiting }, signal);
  if (waiting) return waitFor(waiting.text, waiting.nature === 'fault' ? faultMs : transientMs);
  const retryMs = retryInMs(facts);
  if (step.action === 'request-image') return again(transientMs);
  return retryMs === undefined ? done : again(retryMs);
}

async function readDataVolume(
  { claims, volumes, snapshots, images, clock }: DataVolumeParts,
  dataVolume: DataVolume,
  signal: AbortSignal,
): Promise<DataVolumeFacts> {
  const { namespace = '', name = '', uid = '' } = dataVolume.metadata;
  const needsImage = sourceOrderOf(dataVolume).kind !== 'none';
  return {
    dataVolume,
    claim: claims.get(`${namespace}/${name}`),
    image: needsImage ? await images.find(uid, signal) : undefined,
    sourceSize: sourceSize(dataVolume, claims, snapshots),
    isImageOwned: needsImage && volumes.list().some((volume) => ownImageOf(volume) === uid),
    nowMs: clock.now(),
  };
}

/** The volume feature notes there which image goes with a volume. */
function ownImageOf({ spec }: PersistentVolume): string | undefined {
  return spec.csi?.volumeAttributes?.['sheaf.dev/own-image'];
}

function sourceSize(
  { metadata, spec }: DataVolume,
  claims: ObjectCache<PersistentVolumeClaim>,
  snapshots: ObjectCache<VolumeSnapshot>,
): string | undefined {
  const { pvc, snapshot } = spec.source ?? {};
  const keyOf = (place: { readonly namespace?: string; readonly name: string }): string =>
    `${place.namespace || metadata.namespace}/${place.name}`;
  if (pvc) return claims.get(keyOf(pvc))?.status?.capacity?.['storage'];
  const size = snapshot && snapshots.get(keyOf(snapshot))?.status?.restoreSize;
  return size === undefined ? undefined : String(size);
}

async function takeStep(
  parts: DataVolumeParts,
  { step, facts }: { readonly step: DataVolumeStep; readonly facts: DataVolumeFacts },
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const { client } = parts;
  switch (step.action) {
    case 'none':
      return undefined;
    case 'wait':
      tell(parts, facts.dataVolume, step.waiting);
      return step.waiting;
    case 'update':
      await client.update(resources.dataVolumes, step.dataVolume, { signal });
      return undefined;
    case 'request-image':
      return requestImage(parts, { order: step.order, facts }, signal);
    case 'create-claim':
      return createClaim(client, step.claim, signal);
    case 'remove-image':
      return removeImage(
        parts,
        { uid: facts.dataVolume.metadata.uid ?? '', released: step.released },
        signal,
      );
  }
}

async function requestImage(
  parts: DataVolumeParts,
  {
    order,
    facts,
  }: { readonly order: Exclude<SourceOrder, { kind: 'none' }>; readonly facts: DataVolumeFacts },
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const { client, images } = parts;
  const { namespace = '', name = '', uid = '' } = facts.dataVolume.metadata;
  const common = { id: uid, title: `${namespace}/${name}`, maxBytes: order.maxBytes };
  try {
    const origin =
      order.kind === 'registry'
        ? await fetchDisk(parts, { order, namespace, uid }, signal)
        : await originOf(client, { order, namespace }, signal);
    if ('waiting' in origin) return origin.waiting;
    await images.request({ ...common, origin }, signal);
    return undefined;
  } catch (error) {
    if (!StatusError.is(error) || error.reason === 'InternalError') throw error;
    return refusedImport(error.message);
  }
}

function refusedImport(message: string): Waiting {
  const end = message.lastIndexOf('; ');
  return {
    reason: 'ImportRefused',
    text: end > 0 ? message.slice(0, end) : message,
    nature: 'fault',
    wayOut: end > 0 ? message.slice(end + 2) : 'delete it and make it with another source',
  };
}

async function originOf(
  client: Client,
  {
    order,
    namespace,
  }: { readonly order: Extract<SourceOrder, { kind: 'upload' | 'download' }>; readonly namespace: string },
  signal: AbortSignal,
): Promise<ImageOrder['origin']> {
  if (order.kind === 'upload') return { kind: 'upload' };
  const { url, authorities: name } = order;
  if (name === undefined) return { kind: 'download', urls: [url] };
  const additionalAuthorities = await authoritiesOf(client, { namespace, name }, signal);
  return { kind: 'download', urls: [url], additionalAuthorities };
}

async function createClaim(
  client: Client,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  try {
    await client.create(resources.persistentVolumeClaims, claim, { signal });
    return undefined;
  } catch (error) {
    if (StatusError.is(error, 'AlreadyExists')) return undefined;
    if (!StatusError.is(error, 'Forbidden') && !StatusError.is(error, 'Invalid')) throw error;
    return {
      reason: 'ClaimRefused',
      text: `Its claim was refused: ${error.message}`,
      nature: 'fault',
      wayOut: 'change what the message names, then delete it and make it again',
    };
  }
}

/** What was fetched may be in use by a volume that has no object yet: then it soon has one, and takes the image along. */
async function removeImage(
  { client, images }: DataVolumeParts,
  { uid, released }: { readonly uid: string; readonly released: DataVolume },
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  try {
    await images.remove(uid, signal);
  } catch (error) {
    if (!StatusError.is(error, 'Conflict')) throw error;
    return { reason: 'ImageInUse', text: error.message, nature: 'transient' };
  }
  await client.update(resources.dataVolumes, released, { signal });
  return undefined;
}

async function writeStatus(
  { client, clock }: DataVolumeParts,
  { facts, waiting }: { readonly facts: DataVolumeFacts; readonly waiting: Waiting | undefined },
  signal: AbortSignal,
): Promise<void> {
  const status = planDataVolumeStatus(facts, { waiting, now: timestampOf(clock) });
  const next = { ...facts.dataVolume, status };
  if (jsonEqual(asJson(next)['status'] ?? {}, asJson(facts.dataVolume)['status'] ?? {})) return;
  await client.updateStatus(resources.dataVolumes, next, { signal });
}

function tell({ recorder }: DataVolumeParts, { metadata }: DataVolume, waiting: Waiting): void {
  if (waiting.nature !== 'fault') return;
  const { namespace = '', name = '', uid = '' } = metadata;
  const about = { resource: resources.dataVolumes, namespace, name, uid };
  recorder.record({
    about,
    type: 'Warning',
    reason: waiting.reason,
    message: `${waiting.text}; ${waiting.wayOut ?? ''}`,
  });
}
