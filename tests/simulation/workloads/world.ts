import type { Clock, DisposableStore, Random } from '@sheaf/base';
import type { PodHost } from '@sheaf/features/workload';
import type { CheckResult, CheckTarget } from '@sheaf/ports';
import { type Scheduler, SeededRandom, StepClock, scheduledPort } from '@sheaf/testkit';
import {
  SimulatedContainerHost,
  SimulatedContainerImages,
  SimulatedContainers,
} from '@sheaf/testkit/containers/index';
import { SharedPodVolumes, SimulatedVolumeHost } from '@sheaf/testkit/pod-volumes/index';
import { nodeNames } from './kinds.ts';
import { type PlantedFault, withFaults } from './planted-faults.ts';
import { presentImage, remoteImage } from './workload-objects.ts';

type Container = SimulatedContainerHost['containers'] extends Map<string, infer Each> ? Each : never;

/** A host under a node, and what it keeps for pods. */
export interface NodeHost {
  readonly nodeName: string;
  readonly containers: SimulatedContainerHost;
  readonly volumes: SimulatedVolumeHost;
}

export interface WorldOptions {
  readonly seed: number;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly planted: ReadonlySet<PlantedFault>;
  /** UID of a claim, by its namespace and name. */
  readonly claimUid: (namespace: string, name: string) => string | undefined;
}

const longestStepMs = 2;
const immediate: readonly string[] = ['capabilities', 'onChange', 'onPull', 'dispose', 'readLog'];
const reading: ReadonlySet<string> = new Set([
  'listSandboxes',
  'listContainers',
  'pods',
  'readMessage',
  'find',
  'probe',
]);
const guest = {
  id: `sha256:${'9'.repeat(64)}`,
  bytes: 2_000_000,
  user: '',
  entryPoint: ['/guest'],
  arguments: [],
  createdAt: 0,
};

/** Hosts with their containers. What the drivers begin outlives them. */
export class World {
  readonly hosts: readonly NodeHost[];
  /** Addresses of pods that do not answer. */
  readonly sick = new Set<string>();
  failsStarts = false;
  /** Of 1000 steps of a driver, so many are its last. */
  crashChance = 0;
  /** Told when a driver has died at one of its own steps: the program is dead. */
  hasDied = false;
  readonly #options: WorldOptions;
  readonly #random: Random;
  #readsAtOnce = false;
  #lives = 0;
  #kill: () => void = () => undefined;

  constructor(options: WorldOptions) {
    const { seed, clock, scheduler } = options;
    this.#options = options;
    this.#random = new SeededRandom(seed + 2);
    const stepClock = new StepClock(clock, { scheduler, name: 'driver', longestStepMs });
    this.hosts = nodeNames.map((nodeName) => {
      const containers = new SimulatedContainerHost({ clock: stepClock, random: this.#random });
      containers.addImage(presentImage, guest);
      containers.faults.onStep = () => this.#mayDie();
      containers.faults.startFailure = () => (this.failsStarts ? 'the program does not like it' : undefined);
      return { nodeName, containers, volumes: new SimulatedVolumeHost() };
    });
    this.offerImages(true);
  }

  /** What controllers ask of drivers is answered without being chosen; nor do these take time between their own steps. */
  get readsAtOnce(): boolean {
    return this.#readsAtOnce;
  }

  set readsAtOnce(isAtOnce: boolean) {
    this.#readsAtOnce = isAtOnce;
    for (const { containers } of this.hosts) containers.faults.longestStepMs = isAtOnce ? 0 : longestStepMs;
  }

  /** Whether the registry answers. */
  offerImages(isOffered: boolean): void {
    for (const { containers } of this.hosts)
      if (isOffered) containers.sources.set(remoteImage, { image: guest });
      else containers.sources.delete(remoteImage);
  }

  running(): readonly { readonly host: SimulatedContainerHost; readonly container: Container }[] {
    return this.hosts.flatMap(({ containers: host }) =>
      [...host.containers.values()]
        .filter(({ state }) => state === 'running')
        .map((container) => ({ host, container })),
    );
  }

  /** The power fails everywhere. */
  restart(): void {
    for (const { containers, volumes } of this.hosts) {
      containers.restart();
      volumes.restart();
    }
  }

  /** The nodes of one more life of the program; their drivers die with it. */
  open(life: DisposableStore): readonly PodHost[] {
    const number = ++this.#lives;
    const ends: (() => void)[] = [];
    let isOver = false;
    const kill = (): void => {
      isOver = true;
      for (const end of ends) end();
    };
    this.#kill = kill;
    life.add({ dispose: kill });
    return this.hosts.map((host) => {
      const containers = new SimulatedContainers(host.containers);
      const images = new SimulatedContainerImages(host.containers);
      ends.push(
        () => containers.dispose(),
        () => images.dispose(),
      );
      containers.probe(new AbortController().signal).catch(() => undefined);
      const scheduled = <T extends object>(port: T, kind: string): T =>
        scheduledPort(port, {
          scheduler: this.#options.scheduler,
          name: `life${number} ${host.nodeName} ${kind}`,
          immediate,
          isAtOnce: (method) => this.readsAtOnce && reading.has(method),
          isOver: () => isOver,
        });
      return {
        ...this.#surroundings(host),
        containers: scheduled(withFaults(containers, this.#options.planted), 'containers'),
        images: scheduled(images, 'images'),
        volumes: scheduled(new SharedPodVolumes(host.volumes, host.containers), 'volumes'),
      };
    });
  }

  #surroundings({ nodeName }: NodeHost): Omit<PodHost, 'containers' | 'images' | 'volumes'> {
    const check = ({ host }: CheckTarget): Promise<CheckResult> =>
      Promise.resolve(this.sick.has(host) ? { isHealthy: false, text: 'refused' } : { isHealthy: true });
    return {
      nodeName,
      checks: { http: check, tcp: check, grpc: check },
      hostAddresses: () => ['192.0.2.1'],
      clusterNames: () => ({ dnsServers: [], domain: 'cluster.local' }),
      diskOf: ({ namespace, name }) => Promise.resolve(this.#diskOf(namespace, name)),
    };
  }

  #diskOf(namespace: string, name: string): Awaited<ReturnType<PodHost['diskOf']>> {
    const volumeId = this.#options.claimUid(namespace, name);
    if (volumeId === undefined) return { problem: `persistentvolumeclaim "${name}" not found` };
    return { volumeId, disk: { path: `/disks/${volumeId}`, format: 'raw' }, isReadOnly: false };
  }

  /** A dead driver is told at its next step; the schedule then ends the rest of the program. */
  #mayDie(): void {
    if (!this.hasDied && this.crashChance > 0 && this.#random.integer(1000) < this.crashChance) {
      this.hasDied = true;
      this.#kill();
    }
  }
}
