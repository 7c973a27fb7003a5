import { createHash } from 'node:crypto';

const prefix = 'container-';

/** The id of the volume that one run of a machine writes to, over a disk from a container image. It ends with the run. */
export function containerVolumeId(instanceUid: string, volumeName: string): string {
  return `${prefix}${instanceUid}-${createHash('sha1').update(volumeName).digest('hex').slice(0, 10)}`;
}

/** The run of a machine that a volume is for; `undefined`: it is none of these. */
export function containerVolumeOwner(volumeId: string): string | undefined {
  return volumeId.startsWith(prefix) ? volumeId.slice(prefix.length, volumeId.lastIndexOf('-')) : undefined;
}
