import type { Container, VolumeMount } from '@sheaf/api/workload/index';
import type { ContainerMount, PodVolume } from '@sheaf/ports';
import { expand } from './environment.ts';

export interface MountFacts {
  readonly container: Container;
  readonly volumes: readonly PodVolume[];
  readonly environment: Readonly<Record<string, string>>;
  /** The file for its last words. */
  readonly messageFile: string;
}

export type PlannedMounts = { readonly mounts: readonly ContainerMount[] } | { readonly problem: string };

/** What is mounted into a container, and where. */
export function mountsOf({ container, volumes, environment, messageFile }: MountFacts): PlannedMounts {
  const mounts: ContainerMount[] = [];
  for (const mount of container.volumeMounts ?? []) {
    const volume = volumes.find(({ name }) => name === mount.name);
    if (!volume)
      return { problem: `cannot find volume "${mount.name}" to mount into container "${container.name}"` };
    mounts.push(mountOf(mount, volume, environment));
  }
  const containerPath = container.terminationMessagePath || '/dev/termination-log';
  return { mounts: [...mounts, { hostPath: messageFile, containerPath }] };
}

function mountOf(
  { mountPath, subPath, subPathExpr, readOnly, mountPropagation }: VolumeMount,
  { hostPath }: PodVolume,
  environment: Readonly<Record<string, string>>,
): ContainerMount {
  const below = subPathExpr ? expand(subPathExpr, environment) : subPath;
  return {
    hostPath,
    containerPath: mountPath,
    ...(below && { subPath: below }),
    ...(readOnly && { isReadOnly: true }),
    ...(mountPropagation === 'HostToContainer' && { propagation: 'host-to-container' }),
    ...(mountPropagation === 'Bidirectional' && { propagation: 'bidirectional' }),
  };
}
