import { mkdir, realpath, symlink } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { ContainerMount } from '@sheaf/ports';
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
  if (subPath.startsWith('/') || normalize(subPath).startsWith('..')) throw refusals.leadsOut(subPath);
  const target = await realpath(join(base, subPath)).catch(() => {
    throw refusals.noPath(subPath);
  });
  if (target !== base && !target.startsWith(`${base}/`)) throw refusals.leadsOut(subPath);
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
