import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@sheaf/base';
import { HelmSource, helmProgram } from '@sheaf/drivers/helm';
import { ContainersBeside, ImagesBeside, openHostProcesses } from '@sheaf/drivers/host-processes';
import type { ContainerImages, Containers } from '@sheaf/ports';

export interface HelmHostOptions {
  /** Absolute. */
  readonly dataDir: string;
  readonly clock: Clock;
  /** `HOST:PORT` of the API server, as this host reaches it; known once it listens. */
  readonly serverAddress: () => string;
}

/** Where the set-up builds what is not on the PATH. */
const builtTools = fileURLToPath(new URL('../../.cache/tools/', import.meta.url));

/** The containers of this host, and beside them its Helm as a program that pods of charts run. */
export function withHelm(
  engine: { readonly containers: Containers; readonly images: ContainerImages },
  { dataDir, clock, serverAddress }: HelmHostOptions,
): { readonly containers: Containers; readonly images: ContainerImages } {
  const programs = openHostProcesses({
    directory: join(dataDir, 'programs'),
    clock,
    programs: [
      helmProgram({
        source: new HelmSource({ directories: [builtTools], buildDirectory: join(dataDir, 'tools') }),
        serverAddress,
        chartsDirectory: join(dataDir, 'charts'),
      }),
    ],
  });
  return {
    containers: new ContainersBeside({ images: engine.containers, programs: programs.containers }),
    images: new ImagesBeside({ images: engine.images, programs: programs.images }),
  };
}
