import type { Clock, Logger, Random } from '@sheaf/base';
import type { ContainerCapabilities, ContainerImages, Containers } from '@sheaf/ports';
import { currentBootId } from '../qemu/process-identity.ts';
import { engineLayout } from './engine-layout.ts';
import { defaultLimits, type PodmanLimits } from './engine-limits.ts';
import { EngineProbe, type EngineRefusal } from './engine-probe.ts';
import { usualSubnets } from './pod-subnet.ts';
import { PodmanContainers } from './podman-containers.ts';
import { PodmanEngine } from './podman-engine.ts';
import { PodmanImages } from './podman-images.ts';

export interface PodmanOptions {
  /** Where everything is kept. One process at a time uses it. */
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Networks for pods, IPv4, tried in turn: the first that overlaps with nothing of the host is kept in the directory. If absent,
   * `10.42.0.0/24` to `10.42.255.0/24`, beginning somewhere else for each directory.
   */
  readonly podSubnets?: readonly string[];
  readonly limits?: Partial<PodmanLimits>;
  /** Why no containers are wanted: then every call is refused with it. */
  readonly refusal?: EngineRefusal;
  /** The kernel's, if absent. */
  readonly bootId?: string;
}

/** One engine: its containers and its images. `dispose` of the containers lets go of both. */
export interface Podman {
  readonly containers: Containers;
  readonly images: ContainerImages;
  /** The bridge of its pods, there as long as one of them is; another one for each directory. */
  readonly podBridge: string;
  /** What is installed; nothing is tried, made or started. What has been found out by a probe stands. */
  look(): Promise<ContainerCapabilities>;
}

/**
 * Opens a directory of containers. Nothing is touched before the first call; to ask for the containers and sandboxes of a
 * directory that never had any touches nothing either.
 */
export function openPodman(options: PodmanOptions): Podman {
  const { directory, clock, random, logger } = options;
  const layout = engineLayout(directory);
  const limits = { ...defaultLimits, ...options.limits };
  const bootId = options.bootId ?? currentBootId();
  const podSubnets = options.podSubnets ?? usualSubnets(directory);
  const probe = new EngineProbe({
    layout,
    bootId,
    limits,
    podSubnets,
    ...(options.refusal && { refusal: options.refusal }),
  });
  const engine = new PodmanEngine({ layout, probe, clock, random, logger, limits, bootId });
  return {
    containers: new PodmanContainers(engine),
    images: new PodmanImages(engine),
    podBridge: layout.bridgeName,
    look: () => probe.look(),
  };
}
