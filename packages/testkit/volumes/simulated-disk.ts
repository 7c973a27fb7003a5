import type { Clock, Random } from '@sheaf/base';
import type { Images, MachineMemories, Volumes } from '@sheaf/ports';
import { SimulatedChanges } from './simulated-changes.ts';
import { SimulatedImages } from './simulated-images.ts';
import { noDiskFaults, type SimulatedDiskFaults, SimulatedLife } from './simulated-life.ts';
import type { SimulatedMedium } from './simulated-medium.ts';
import { SimulatedMachineMemories } from './simulated-memories.ts';
import { SimulatedSources } from './simulated-sources.ts';
import { SimulatedVolumes } from './simulated-volumes.ts';

export interface SimulatedDiskOptions {
  readonly medium: SimulatedMedium;
  readonly clock: Clock;
  readonly random: Random;
  readonly sources?: SimulatedSources;
  readonly faults?: SimulatedDiskFaults;
  readonly overCommitment?: number;
}

/** One life of drivers of volumes and images that pass the same contract suites as the real ones, without any I/O. */
export interface SimulatedDisk {
  readonly volumes: Volumes;
  readonly images: Images;
  readonly memories: MachineMemories;
  /** The driver dies where it is; the medium stays. */
  crash(): void;
}

export function openSimulatedDisk(options: SimulatedDiskOptions): SimulatedDisk {
  const { medium, clock, random, faults = noDiskFaults, overCommitment = 1 } = options;
  const sources = options.sources ?? new SimulatedSources();
  const life = new SimulatedLife({ clock, random, faults });
  return {
    volumes: new SimulatedVolumes({ life, medium, changes: new SimulatedChanges(), overCommitment }),
    images: new SimulatedImages({ life, medium, sources, changes: new SimulatedChanges() }),
    memories: new SimulatedMachineMemories({ life, medium, overCommitment }),
    crash: () => life.end('its next step'),
  };
}
