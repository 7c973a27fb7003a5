import { identityOf, type OwnerReference } from '@sheaf/api';
import type {
  DataVolume,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VirtualMachineImage,
  VirtualMachineInstance,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import type { Pod } from '@sheaf/api/workload/index';
import { type Client, resources } from '@sheaf/client';
import type { Images, Volumes } from '@sheaf/ports';
import type { ObjectCache } from '@sheaf/runtime';
import { type ClaimContent, type ContentObjects, contentOf } from './claim-content.ts';
import { type ClaimOrigin, originOf } from './claim-origin.ts';
import { holdsVolumes, podsOn, usersOf, waitedForPod } from './claim-users.ts';
import { copyNameOf, findCopy, isOfMoment } from './copy-snapshot.ts';
import type { ClaimFacts } from './plan.ts';
import { isDefaultClass } from './storage-defaults.ts';
import { classNameOf, isOurs, volumeNameOf } from './volume-object.ts';

/** What is known of the objects around claims. */
export interface ClaimCaches {
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly volumes: ObjectCache<PersistentVolume>;
  readonly classes: ObjectCache<StorageClass>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly pods: ObjectCache<Pod>;
  readonly images: ObjectCache<VirtualMachineImage>;
  readonly dataVolumes: ObjectCache<DataVolume>;
  readonly snapshots: ObjectCache<VolumeSnapshot>;
  readonly snapshotContents: ObjectCache<VolumeSnapshotContent>;
}

export interface ClaimSources {
  readonly client: Client;
  readonly caches: ClaimCaches;
  readonly volumes: Pick<Volumes, 'find' | 'capabilities'>;
  readonly images: Pick<Images, 'find'>;
}

/** Looks at a claim and at everything around it. */
export async function readClaim(
  sources: ClaimSources,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<ClaimFacts> {
  const { caches, volumes } = sources;
  const { namespace, name } = identityOf(claim);
  const storageClass = caches.classes.get(classNameOf(claim) ?? '');
  const volume = await findVolume(sources, claim, signal);
  const pods = podsOn(name, caches.pods.list(namespace));
  return {
    claim,
    storageClass,
    defaultClass: caches.classes.list().find(isDefaultClass)?.metadata.name,
    volume,
    content: volume ? blank : await readContent(sources, { claim, storageClass }, signal),
    observation: await volumes.find(handleOf(claim, volume), signal),
    capabilities: volumes.capabilities(),
    users: usersOf(name, caches.instances.list(namespace)),
    pods: pods.map(waitedForPod),
    holders: pods.filter(holdsVolumes).map(waitedForPod),
    copy: findCopy(claim, caches.snapshots.list()),
  };
}

function handleOf(claim: PersistentVolumeClaim, volume: PersistentVolume | undefined): string {
  const { uid } = identityOf(claim);
  return volume && isOurs(volume) ? (volume.spec.csi?.volumeHandle ?? uid) : uid;
}

const blank: ClaimContent = { state: 'ready', content: { kind: 'blank' } };

/** The object that the claim names, that was made for it, or that names it. */
async function findVolume(
  { client, caches }: ClaimSources,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<PersistentVolume | undefined> {
  const name = claim.spec.volumeName || volumeNameOf(claim);
  const known = caches.volumes.get(name);
  if (known) return known;
  // That a volume is gone is asked at the server before anything follows from it.
  if (claim.spec.volumeName) return client.find(resources.persistentVolumes, { name }, signal);
  const { namespace, name: claimName, uid } = claim.metadata;
  return caches.volumes.list().find(({ spec: { claimRef } }) => {
    if (claimRef?.namespace !== namespace || claimRef?.name !== claimName) return false;
    return claimRef?.uid === undefined || claimRef.uid === uid;
  });
}

async function readContent(
  sources: ClaimSources,
  parts: {
    readonly claim: PersistentVolumeClaim;
    readonly storageClass: StorageClass | undefined;
  },
  signal: AbortSignal,
): Promise<ClaimContent> {
  const { claim, storageClass } = parts;
  const owner = dataVolumeOwner(claim);
  const dataVolume = owner && (await findDataVolume(sources, { claim, owner }, signal));
  if (owner && !dataVolume) return ownerMissing(claim, owner);
  const origin = originOf(claim, storageClass, dataVolume);
  return contentOf(origin, await readObjects(sources, { origin, claim }, signal));
}

/** A claim that was made for a DataVolume has its name. */
function dataVolumeOwner({ metadata }: PersistentVolumeClaim): OwnerReference | undefined {
  return metadata.ownerReferences?.find(
    ({ apiVersion, kind, controller, name }) =>
      apiVersion.startsWith('cdi.kubevirt.io/') &&
      kind === 'DataVolume' &&
      controller &&
      name === metadata.name,
  );
}

async function findDataVolume(
  { client, caches }: ClaimSources,
  parts: { readonly claim: PersistentVolumeClaim; readonly owner: OwnerReference },
  signal: AbortSignal,
): Promise<DataVolume | undefined> {
  const { namespace = '' } = parts.claim.metadata;
  const { name, uid } = parts.owner;
  const known = caches.dataVolumes.get(`${namespace}/${name}`);
  if (known?.metadata.uid === uid) return known;
  const found = await client.find(resources.dataVolumes, { namespace, name }, signal);
  return found?.metadata.uid === uid ? found : undefined;
}

function ownerMissing(
  { metadata: { namespace = '' } }: PersistentVolumeClaim,
  { name }: OwnerReference,
): ClaimContent {
  return {
    state: 'waiting',
    waiting: {
      reason: 'DataVolumeGone',
      text: 'The DataVolume that it was made for is gone; it goes, too',
      nature: 'transient',
      object: { kind: 'DataVolume', namespace, name },
    },
  };
}

async function readObjects(
  { caches, images }: ClaimSources,
  { origin, claim }: { readonly origin: ClaimOrigin; readonly claim: PersistentVolumeClaim },
  signal: AbortSignal,
): Promise<ContentObjects> {
  switch (origin.kind) {
    case 'claim':
      return readSourceClaim(caches, origin, claim);
    case 'snapshot':
      return readSnapshot(caches, origin);
    case 'own-image':
      return { ownImage: await images.find(origin.imageId, signal) };
    case 'class-image':
      return { image: findImage(caches, origin) };
    default:
      return {};
  }
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function readSourceClaim(
  caches: ClaimCaches,
  { namespace, name }: Place,
  claim: PersistentVolumeClaim,
): ContentObjects {
  const source = caches.claims.get(`${namespace}/${name}`);
  const users = usersOf(name, caches.instances.list(namespace));
  const volume = caches.volumes.get(source?.spec.volumeName ?? '');
  const copy = readSnapshot(caches, { namespace, name: copyNameOf(claim) });
  return { claim: source, volume, needsSnapshot: users.length > 0 || isOfMoment(claim), ...copy };
}

function readSnapshot(caches: ClaimCaches, { namespace, name }: Place): ContentObjects {
  const snapshot = caches.snapshots.get(`${namespace}/${name}`);
  const content = snapshot?.status?.boundVolumeSnapshotContentName ?? '';
  return { snapshot, snapshotContent: caches.snapshotContents.get(content) };
}

/** An image is behind the class that its status names, and behind one with its name of Longhorn's. */
function findImage(
  { images }: ClaimCaches,
  { className, backingImage }: Extract<ClaimOrigin, { kind: 'class-image' }>,
): VirtualMachineImage | undefined {
  const all = images.list();
  return (
    all.find(({ metadata }) => backingImage === `vmi-${metadata.uid}`) ??
    all.find(({ status }) => status?.storageClassName === className)
  );
}
