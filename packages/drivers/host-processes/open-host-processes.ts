import type { Clock } from '@sheaf/base';
import type { ContainerImages, Containers } from '@sheaf/ports';
import { currentBootId } from '../qemu/process-identity.ts';
import { HostProcessContainers } from './host-process-containers.ts';
import { HostProcesses } from './host-processes.ts';
import type { HostProgram } from './host-program.ts';
import { HostProgramImages } from './host-program-images.ts';

export interface HostProcessOptions {
  /** Where everything is kept. One process at a time uses it. */
  readonly directory: string;
  readonly clock: Clock;
  readonly programs: readonly HostProgram[];
  /** The kernel's, if absent. */
  readonly bootId?: string;
}

/** Programs of the host behind the ports of containers. Nothing is touched before the first call. */
export function openHostProcesses({ bootId = currentBootId(), ...options }: HostProcessOptions): {
  readonly containers: Containers;
  readonly images: ContainerImages;
} {
  const host = new HostProcesses({ ...options, bootId });
  return { containers: new HostProcessContainers(host), images: new HostProgramImages(options.programs) };
}
