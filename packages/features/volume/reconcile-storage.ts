import type { KubeObject } from '@sheaf/api';
import {
  containerVolumeId,
  type DataVolume,
  type StorageClass,
  storageDriver,
  type VirtualMachineImage,
  type VirtualMachineInstance,
  type VolumeSnapshot,
  type VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Volumes } from '@sheaf/ports';
import { again, done, type EventRecorder, type ReconcileResult } from '@sheaf/runtime';
import type { ClaimCaches } from './claim-reader.ts';
import { driverObject, newClass, usualClasses } from './storage-defaults.ts';
import { lastingUnowned, reportedDriver, unownedMessage } from './storage-report.ts';
import { isOurs, ownImageOf } from './volume-object.ts';

export interface StorageParts {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly caches: ClaimCaches;
  readonly volumes: Pick<Volumes, 'capabilities' | 'space' | 'findUnowned'>;
}

const lookAgainMs = 60_000;

/** Makes the usual classes and the driver's object where they are missing. Nothing that is there is changed. */
export async function ensureStorage(client: Client, signal?: AbortSignal): Promise<void> {
  const query = signal ? { signal } : {};
  const { items } = await client.list(resources.storageClasses, query);
  const names = new Set(items.map(({ metadata }) => metadata.name));
  const missing = usualClasses.filter(({ metadata }) => !names.has(metadata.name));
  for (const wanted of missing) await createOnce(client, newClass(wanted, items), query);
  if (await client.find(resources.csiDrivers, { name: storageDriver }, signal)) return;
  await client.create(resources.csiDrivers, driverObject, query).catch(ignoreExisting);
}

async function createOnce(
  client: Client,
  storageClass: StorageClass,
  query: { readonly signal?: AbortSignal },
): Promise<void> {
  await client.create(resources.storageClasses, storageClass, query).catch(ignoreExisting);
}

function ignoreExisting(error: unknown): void {
  if (!StatusError.is(error, 'AlreadyExists')) throw error;
}

/** Keeps the usual classes, and tells on the driver's object what it can do, what room there is and what belongs to nobody. */
export class StorageKeeper {
  readonly #parts: StorageParts;
  #seen: ReadonlySet<string> = new Set();

  constructor(parts: StorageParts) {
    this.#parts = parts;
  }

  async reconcile(signal: AbortSignal): Promise<ReconcileResult> {
    const { client, volumes } = this.#parts;
    await ensureStorage(client, signal);
    const driver = await client.find(resources.csiDrivers, { name: storageDriver }, signal);
    if (!driver) return done;
    const found = await volumes.findUnowned(this.#known(), signal);
    const unowned = lastingUnowned(found, this.#seen);
    this.#seen = new Set(found.map(({ path }) => path));
    const space = await volumes.space(signal);
    const next = reportedDriver(driver, { capabilities: volumes.capabilities(), space, unowned });
    if (next !== driver) await client.update(resources.csiDrivers, next, { signal });
    if (unowned.length > 0) this.#tell(driver, unownedMessage(unowned));
    return again(lookAgainMs);
  }

  /** All that objects account for. */
  #known(): Parameters<Volumes['findUnowned']>[0] {
    const { claims, volumes, snapshots, snapshotContents, images, dataVolumes, instances } =
      this.#parts.caches;
    const own = volumes.list().filter(isOurs);
    return {
      volumeIds: new Set([
        ...claims.list().map(uidOf),
        ...own.map(({ spec }) => spec.csi?.volumeHandle ?? ''),
        ...instances.list().flatMap(containerVolumesOf),
      ]),
      snapshotIds: new Set([...snapshots.list().map(uidOf), ...snapshotContents.list().flatMap(handlesOf)]),
      imageIds: new Set([
        ...[...images.list(), ...dataVolumes.list()].map(uidOf),
        ...own.flatMap((volume) => ownImageOf(volume) ?? []),
      ]),
    };
  }

  #tell({ metadata }: KubeObject, message: string): void {
    const { name = '', uid = '' } = metadata;
    const about = { resource: resources.csiDrivers, namespace: '', name, uid };
    this.#parts.recorder.record({ about, type: 'Warning', reason: 'UnownedSpace', message });
  }
}

function uidOf({ metadata }: DataVolume | VirtualMachineImage | VolumeSnapshot | KubeObject): string {
  return metadata.uid ?? '';
}

/** What a run of a machine writes to over disks of container images. */
function containerVolumesOf({ metadata, spec }: VirtualMachineInstance): readonly string[] {
  const volumes = (spec.volumes ?? []).filter(({ containerDisk }) => containerDisk !== undefined);
  return volumes.map(({ name }) => containerVolumeId(metadata.uid ?? '', name));
}

function handlesOf({ spec, status }: VolumeSnapshotContent): readonly string[] {
  return [spec.source.snapshotHandle, status?.snapshotHandle].filter((handle) => handle !== undefined);
}
