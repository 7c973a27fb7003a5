import type { MachineDisk } from '@sheaf/ports';

/** A disk as a process opens it. */
export interface OpenedDisk {
  readonly disk: MachineDisk;
  /** Its file, and those that this one lies on. */
  readonly paths: readonly string[];
}

/** True where two processes cannot have both: nobody writes to what another one reads, also not to what lies beneath. */
export function areInConflict(one: OpenedDisk, other: OpenedDisk): boolean {
  if (one.paths[0] === other.paths[0]) return isExclusive(one.disk, other.disk);
  if (one.disk.isShareable === true || other.disk.isShareable === true) return false;
  return writesBeneath(one, other) || writesBeneath(other, one);
}

function writesBeneath({ disk, paths: [path = ''] }: OpenedDisk, { paths }: OpenedDisk): boolean {
  return !readsOnly(disk) && paths.includes(path);
}

function isExclusive(a: MachineDisk, b: MachineDisk): boolean {
  if (readsOnly(a) && readsOnly(b)) return false;
  return a.isShareable !== true || b.isShareable !== true;
}

function readsOnly({ isReadOnly, device }: MachineDisk): boolean {
  return isReadOnly === true || device === 'cdrom';
}
