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

/** Charts that the host has been given. */
export function chartsDirectory(dataDir: string): string {
  return join(dataDir, 'charts');
}

/** Programs that the host has been given, or has built. */
export function toolsDirectory(dataDir: string): string {
  return join(dataDir, 'tools');
}

export function helmSource(dataDir: string): HelmSource {
  return new HelmSource({ directories: [builtTools], buildDirectory: toolsDirectory(dataDir) });
}

/** The containers of this host, and beside them its Helm as a program that pods of charts run. */
export function withHelm(
  engine: { readonly containers: Containers; readonly images: ContainerImages },
  { dataDir, clock, serverAddress }: HelmHostOptions,
): { readonly containers: Containers; readonly images: ContainerImages; readonly programs: Containers } {
  const programs = openHostProcesses({
    directory: join(dataDir, 'programs'),
    clock,
    programs: [
      helmProgram({
        source: helmSource(dataDir),
        serverAddress,
        chartsDirectory: chartsDirectory(dataDir),
      }),
    ],
  });
  return {
    containers: new ContainersBeside({ images: engine.containers, programs: programs.containers }),
    images: new ImagesBeside({ images: engine.images, programs: programs.images }),
    programs: programs.containers,
  };
}
