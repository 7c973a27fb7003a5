import { access, mkdir, realpath, symlink } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { ContainerMount } from '@sheaf/ports';
import { placeOf } from '../podman/sub-path.ts';
import { refusals } from './refusals.ts';

/** A mount as a program of the host sees it: a link below its root. */
export interface PlannedLink {
  readonly target: string;
  readonly containerPath: string;
}

/** @throws StatusError BadRequest for what is not there or leads out of what is mounted */
export async function plannedLinks(mounts: readonly ContainerMount[]): Promise<readonly PlannedLink[]> {
  const links: PlannedLink[] = [];
  for (const mount of mounts)
    links.push({ containerPath: mount.containerPath, target: await targetOf(mount) });
  return links;
}

async function targetOf({ hostPath, subPath }: ContainerMount): Promise<string> {
  const base = await realpath(hostPath).catch(() => {
    throw refusals.noPath(hostPath);
  });
  if (subPath === undefined) return hostPath;
  const { parts } = await placeOf({ hostPath: base, subPath, containerPath: '' });
  const target = join(base, ...parts);
  // A file, or a directory that it shares with others, is left as it is.
  await access(target).catch(() => mkdir(target, { recursive: true }));
  return target;
}

/** Makes the links below `root`; of two at one place the later counts. */
export async function makeLinks(root: string, links: readonly PlannedLink[]): Promise<void> {
  const byPlace = new Map(links.map((link) => [normalize(join('/', link.containerPath)), link.target]));
  for (const [place, target] of byPlace) {
    await mkdir(dirname(join(root, place)), { recursive: true });
    await symlink(target, join(root, place));
  }
}
