import { join } from 'node:path';
import { type Clock, type Disposable, type Logger, type Random, sleep, toError } from '@sheaf/base';
import { openNameServer } from '@sheaf/drivers/name-server';
import { openPodVolumes } from '@sheaf/drivers/pod-volumes';
import { openPodman } from '@sheaf/drivers/podman';
import { openServiceProxy } from '@sheaf/drivers/service-proxy';
import { networkChecks } from '@sheaf/drivers/system';
import type { NodeContainers } from '@sheaf/features/node';
import type {
  Capability,
  ContainerImages,
  Containers,
  NameServer,
  NetworkChecks,
  PodVolumes,
  ServiceProxy,
} from '@sheaf/ports';
import { type BundleHost, openBundleHost } from './bundle-host.ts';
import { withHelm } from './helm-host.ts';
import { serviceNetwork } from './service-network.ts';

export interface WorkloadHostOptions {
  /** Asked of the disk of a volume that is open, with its lock, before anything is written. */
  readonly mayWrite: (path: string) => Promise<boolean>;
  /** Absolute. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Whether pods are to run here at all. */
  readonly hasContainers: boolean;
}

/** What this machine runs pods with. */
export interface WorkloadHost extends BundleHost {
  readonly containers: Containers;
  readonly images: ContainerImages;
  /** Those of `containers` that are programs of this machine; absent where no pods are to run. */
  readonly programs: Containers | undefined;
  readonly volumes: PodVolumes;
  readonly checks: NetworkChecks;
  /** How Services are reached from pods and from here; absent where no pods are to run. */
  readonly services: { readonly proxy: ServiceProxy; readonly nameServer: NameServer } | undefined;
  /** Where programs of this host find the API server: `HOST:PORT`. */
  reachServerAt(address: string): void;
  /** What is known now, for the node. */
  nodeContainers(): NodeContainers;
  /** Resolves when the first look is over; it tries nothing. */
  capability(): Promise<Capability>;
  /** How many pods run now. */
  countRunning(): Promise<number>;
  /** Lets go of everything. Containers run on; whoever opens the directory next finds them. */
  close(): void;
}

const lookAgainMs = 30_000;
const countLimitMs = 5000;
/** Names are answered on one of these ports of the loopback, for one directory always on the same, if it is free. */
/** As often as others are noticed who change rules of Services, where nothing else is to be done. */
const rulesTrustMs = 5000;
const firstNamePort = 24_000;
const namePorts = 6000;

const refusal = {
  reason: 'this Sheaf was started without containers',
  wayOut: 'start it without --without-containers',
};

/**
 * Opens what is in the data directory, and waits for nothing. The engine is started with the first pod, or for those of an
 * earlier life: until then it is only looked whether its programs are there.
 */
export function openWorkloadHost(options: WorkloadHostOptions): WorkloadHost {
  const { dataDir, clock, random, hasContainers } = options;
  const logger = options.logger.with({ part: 'pods' });
  const podman = openPodman({
    directory: join(dataDir, 'podman'),
    clock,
    random,
    logger,
    ...(hasContainers ? {} : { refusal }),
  });
  let serverAddress = '';
  const programs = { dataDir, clock, serverAddress: () => serverAddress };
  const withPrograms = hasContainers ? withHelm(podman, programs) : undefined;
  const { containers, images } = withPrograms ?? podman;
  const looking = new Looking(podman.look, { clock, logger, isRepeated: hasContainers });
  return {
    ...openBundleHost({ dataDir, clock, logger, images }),
    containers,
    images,
    programs: withPrograms?.programs,
    volumes: openPodVolumes({ directory: join(dataDir, 'pods'), clock, mayWrite: options.mayWrite }),
    checks: networkChecks,
    services: hasContainers ? openServices(podman.podBridge, { clock, random, logger }) : undefined,
    reachServerAt(address) {
      serverAddress = address;
    },
    nodeContainers() {
      const { containers: found, engine } = containers.capabilities();
      return {
        areWanted: hasContainers,
        containers: found,
        ...(engine && { version: engine.version }),
      };
    },
    async capability() {
      await looking.first;
      return containers.capabilities().containers;
    },
    countRunning: () => countRunning(containers),
    close() {
      looking.dispose();
      containers.dispose();
    },
  };
}

function openServices(
  bridgeName: string,
  surroundings: Pick<WorkloadHostOptions, 'clock' | 'random' | 'logger'>,
): WorkloadHost['services'] {
  // The digits that tell the bridges of two directories apart.
  const mark = bridgeName.slice(-10);
  const { clock, logger } = surroundings;
  const trust = { clock, milliseconds: rulesTrustMs };
  return {
    proxy: openServiceProxy({ mark, bridgeName, serviceNetwork, logger, trust }),
    nameServer: openNameServer({
      ...surroundings,
      port: firstNamePort + (Number.parseInt(mark, 16) % namePorts),
    }),
  };
}

/** The first look, and more of them for as long as something is missing: someone may install it. */
class Looking implements Disposable {
  readonly first: Promise<boolean>;
  readonly #look: () => ReturnType<Containers['probe']>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stop = new AbortController();

  constructor(
    look: () => ReturnType<Containers['probe']>,
    { clock, logger, isRepeated }: { clock: Clock; logger: Logger; isRepeated: boolean },
  ) {
    this.#look = look;
    this.#clock = clock;
    this.#logger = logger;
    this.first = this.#once();
    if (isRepeated) void this.#goOn();
  }

  dispose(): void {
    this.#stop.abort(new Error('the host is let go of'));
  }

  async #goOn(): Promise<void> {
    let isThere = await this.first;
    while (!this.#stop.signal.aborted && !isThere) {
      await sleep(this.#clock, lookAgainMs, this.#stop.signal).catch(() => undefined);
      if (!this.#stop.signal.aborted) isThere = await this.#once();
    }
  }

  async #once(): Promise<boolean> {
    try {
      return (await this.#look()).containers.isAvailable;
    } catch (error) {
      this.#logger.warn('whether this host can run containers could not be found out', {
        cause: toError(error),
      });
      return false;
    }
  }
}

/** Where that cannot be found out soon, none are counted. */
async function countRunning(containers: Containers): Promise<number> {
  try {
    const all = await containers.listSandboxes(AbortSignal.timeout(countLimitMs));
    return all.filter(({ state }) => state === 'ready').length;
  } catch {
    return 0;
  }
}
