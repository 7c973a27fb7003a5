import type { Clock } from '@sheaf/base';
import type { PodVolumes } from '@sheaf/ports';
import { currentBootId } from '../qemu/process-identity.ts';
import { DirectoryLayout } from './directory-layout.ts';
import { DirectoryPodVolumes } from './directory-pod-volumes.ts';

export interface PodVolumesOptions {
  /** Where everything is kept. One process at a time uses it. */
  readonly directory: string;
  readonly clock: Clock;
  /** Asked of each disk that is open, with its lock, before anything is written. */
  readonly mayWrite: (path: string) => Promise<boolean>;
}

/** Opens a directory of what pods mount. Nothing is touched before the first call. */
export function openPodVolumes({ directory, clock, mayWrite }: PodVolumesOptions): PodVolumes {
  return new DirectoryPodVolumes({
    layout: new DirectoryLayout(directory),
    clock,
    bootId: currentBootId(),
    mayWrite,
  });
}
