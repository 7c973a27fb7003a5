import type { KubeObject } from '@sheaf/api';
import type { VirtualMachineImage, VirtualMachineRestore } from '@sheaf/api/virtualization/index';
import { type Check, commands, nameOf, type Obstacle, resourcesOfChecks } from './obstacle.ts';

const { claims, drivers, images, restores } = resourcesOfChecks;
/** What the images of a release may take. */
const releaseBytes = 13 * 2 ** 30;
/** Above this part of the disk a node takes images away by itself. */
const fullestPart = 0.85;
const roomBypass = 'harvesterhci.io/skipGarbageCollectionThresholdCheck';
/** On the driver of volumes: what its disk has, which is that of the data directory. */
const spaceAnnotation = 'sheaf.dev/space';

interface Claim extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Volumes that are lost, and such that are being changed. */
export const volumeObstacle: Check = ({ objects }) => {
  const all = objects.list(claims) as readonly Claim[];
  const lost = all.filter(({ status }) => status?.phase === 'Lost');
  if (lost.length > 0)
    return {
      reason: 'BadRequest',
      message: `claims have lost their volumes: ${lost.map(nameOf).join(', ')}`,
      wayOut: `Restore the volumes from a backup, or give them up: ${commands('delete', 'pvc', lost)}`,
    };
  const growing = all.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Resizing' && is === 'True'),
  );
  if (growing.length === 0) return undefined;
  return {
    reason: 'BadRequest',
    message: `volumes are being expanded: ${growing.map(nameOf).join(', ')}`,
    wayOut: `Wait for that; what it waits for: ${commands('describe', 'pvc', growing)}`,
  };
};

/** Images that are still coming. One that could not be had keeps nobody. */
export const imageObstacle: Check = ({ objects }) => {
  const coming = (objects.list(images) as readonly VirtualMachineImage[]).filter(({ status }) => {
    const imported = status?.conditions?.find(({ type }) => type === 'Imported')?.status;
    return imported !== 'True' && imported !== 'False';
  });
  if (coming.length === 0) return undefined;
  return {
    reason: 'BadRequest',
    message: `images are being brought in: ${coming.map((image) => `${nameOf(image)} (${image.status?.progress ?? 0} %)`).join(', ')}`,
    wayOut: `Wait for them, or delete them: ${commands('delete', 'virtualmachineimage', coming)}`,
  };
};

export const restoreObstacle: Check = ({ objects }) => {
  const open = (objects.list(restores) as readonly VirtualMachineRestore[]).filter(
    ({ status }) => status?.complete !== true,
  );
  if (open.length === 0) return undefined;
  return {
    reason: 'BadRequest',
    message: `machines are being restored: ${open.map(nameOf).join(', ')}`,
    wayOut: `Wait for them, or delete them: ${commands('delete', 'virtualmachinerestore', open)}`,
  };
};

/** The disk of the data directory is to have room for a release. What nobody has told is not held against anybody. */
export const roomObstacle: Check = ({ upgrade, objects }) => {
  if (upgrade.metadata.annotations?.[roomBypass] === 'true') return undefined;
  const obstacles = objects.list(drivers).map(fullDisk);
  return obstacles.find((obstacle) => obstacle !== undefined);
};

function fullDisk(driver: KubeObject): Obstacle | undefined {
  const space = spaceOf(driver);
  if (!space) return undefined;
  const { totalBytes, freeBytes } = space;
  const missing = totalBytes - freeBytes + releaseBytes - fullestPart * totalBytes;
  if (missing <= 0) return undefined;
  return {
    reason: 'BadRequest',
    message: `the disk of the data directory (${driver.metadata.name}) has ${gibibytes(freeBytes)} free of ${gibibytes(totalBytes)}; with the 13 GiB of a release it would be more than 85 % full`,
    wayOut: `Free ${gibibytes(missing)}: sheaf images ls and kubectl get virtualmachineimages,pvc -A show what takes room; or go round it: annotate the upgrade with ${roomBypass}=true`,
  };
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

interface Space {
  readonly totalBytes: number;
  readonly freeBytes: number;
}

function spaceOf({ metadata }: KubeObject): Space | undefined {
  try {
    const space = JSON.parse(metadata.annotations?.[spaceAnnotation] ?? '{}') as Partial<Space>;
    const { totalBytes, freeBytes } = space;
    return typeof totalBytes === 'number' && typeof freeBytes === 'number'
      ? { totalBytes, freeBytes }
      : undefined;
  } catch {
    return undefined;
  }
}
