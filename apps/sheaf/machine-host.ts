import { existsSync } from 'node:fs';
import { hostname, totalmem } from 'node:os';
import { join } from 'node:path';
import { type Clock, type Disposable, type Logger, type Random, sleep, toError } from '@sheaf/base';
import { type LocalDisk, openLocalDisk } from '@sheaf/drivers/local-disk';
import { DirectoryMachineFiles } from '@sheaf/drivers/machine-files';
import { openQemu } from '@sheaf/drivers/qemu';
import { openHost } from '@sheaf/drivers/system';
import { UploadDesk } from '@sheaf/features/vm-image';
import type {
  Capability,
  ContainerDisks,
  Host,
  Hypervisor,
  Images,
  MachineFiles,
  MachineMemories,
  Volumes,
} from '@sheaf/ports';
import { nodeNameOf } from './node-name.ts';
import { openWorkloadHost, type WorkloadHost } from './workload-host.ts';

export interface MachineHostOptions {
  /** Absolute. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The program that runs machines, if not the usual one. */
  readonly emulator?: string;
  /** Whether pods are to run here; they are, if absent. */
  readonly hasContainers?: boolean;
}

/** What this machine runs virtual machines and pods with. */
export interface MachineHost {
  readonly nodeName: string;
  readonly facts: Host;
  readonly hypervisor: Hypervisor;
  readonly volumes: Volumes;
  readonly memories: MachineMemories;
  readonly images: Images;
  readonly containerDisks: ContainerDisks;
  /** Where images that are sent to us come in. */
  readonly uploads: UploadDesk;
  readonly files: MachineFiles;
  readonly workloads: WorkloadHost;
  /** How many times the room of the disk may be promised; once until the settings are known. */
  overCommitStorage(times: () => number): void;
  /** Memory that machines may have if it is given out once, in bytes. */
  readonly memoryBytes: number;
  hasBridge(name: string): boolean;
  /** What it can do; the first look is over when it resolves. */
  capabilities(): Promise<readonly NamedCapability[]>;
  /** How many machines and pods run now. */
  countRunning(): Promise<{ readonly machines: number; readonly pods: number }>;
  /** Lets go of everything. Machines and pods run on; whoever opens the directory next finds them. */
  close(): Promise<void>;
}

export interface NamedCapability extends Capability {
  readonly name: string;
}

const probeAgainMs = 30_000;
const probeLimitMs = 20_000;
const countLimitMs = 5000;
/** An eighth of the memory, at most this, is left to the host and to Sheaf. */
const keptMemoryBytes = 1024 ** 3;

/**
 * Opens what is in the data directory. Never waits for a machine, and never fails because a program is not installed: what
 * cannot be done then is told by the capabilities, and it is looked again.
 */
export async function openMachineHost(options: MachineHostOptions): Promise<MachineHost> {
  const { dataDir, clock } = options;
  const surroundings = { clock, random: options.random, logger: options.logger.with({ part: 'machines' }) };
  let timesPromised = (): number => 1;
  const [nodeName, disk] = await Promise.all([
    nodeNameOf(dataDir, hostname()),
    openLocalDisk({
      ...surroundings,
      directory: join(dataDir, 'volumes'),
      overCommitment: () => timesPromised(),
    }),
  ]);
  const { emulator } = options;
  const directory = join(dataDir, 'machines');
  const mayWrite = (path: string): Promise<boolean> =>
    disk.volumes.mayWrite(path, new AbortController().signal);
  const hypervisor = openQemu({
    ...surroundings,
    directory,
    mayWrite,
    ...(emulator === undefined ? {} : { emulator }),
  });
  const probing = new Probing(hypervisor, surroundings);
  const workloads = openWorkloadHost({ ...options, mayWrite, hasContainers: options.hasContainers ?? true });
  return {
    nodeName,
    facts: openHost(dataDir),
    hypervisor,
    volumes: disk.volumes,
    memories: disk.memories,
    images: disk.images,
    containerDisks: disk.containerDisks,
    uploads: new UploadDesk({ images: disk.images, clock }),
    files: new DirectoryMachineFiles(join(dataDir, 'machine-files')),
    workloads,
    overCommitStorage(times) {
      timesPromised = times;
    },
    memoryBytes: memoryForMachines(),
    hasBridge: (name) => /^[^/]+$/.test(name) && existsSync(`/sys/class/net/${name}/bridge`),
    async capabilities() {
      await probing.first;
      const containers = { name: 'containers', ...(await workloads.capability()) };
      return [...capabilitiesOf(hypervisor, disk), containers];
    },
    async countRunning() {
      const [machines, pods] = await Promise.all([countRunning(hypervisor), workloads.countRunning()]);
      return { machines, pods };
    },
    async close() {
      probing.dispose();
      hypervisor.dispose();
      workloads.close();
      await disk.dispose();
    },
  };
}

/** The first look, and more of them for as long as no machine can run: someone may install what is missing. */
class Probing implements Disposable {
  readonly first: Promise<void>;
  readonly #hypervisor: Hypervisor;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stop = new AbortController();

  constructor(hypervisor: Hypervisor, { clock, logger }: { clock: Clock; logger: Logger }) {
    this.#hypervisor = hypervisor;
    this.#clock = clock;
    this.#logger = logger;
    this.first = this.#probe();
    void this.#goOn();
  }

  dispose(): void {
    this.#stop.abort(new Error('the host is let go of'));
  }

  async #goOn(): Promise<void> {
    await this.first;
    while (!this.#stop.signal.aborted && !this.#hypervisor.capabilities().hypervisor.isAvailable) {
      await sleep(this.#clock, probeAgainMs, this.#stop.signal).catch(() => undefined);
      if (!this.#stop.signal.aborted) await this.#probe();
    }
  }

  async #probe(): Promise<void> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(probeLimitMs)]);
    try {
      await this.#hypervisor.probe(signal);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#logger.warn('what this host can run could not be found out', { cause: toError(error) });
    }
  }
}

function capabilitiesOf(hypervisor: Hypervisor, { volumes }: LocalDisk): readonly NamedCapability[] {
  const {
    hypervisor: machines,
    accelerator,
    efi,
    tpm,
    bridges,
    podNetworkOutside,
  } = hypervisor.capabilities();
  const told = machines.isAvailable
    ? { ...machines, reason: `${machines.reason}, ${accelerator.kind}: ${accelerator.reason}` }
    : machines;
  return [
    { name: 'machines', ...told },
    { name: 'volumes', ...volumes.capabilities().volumes },
    { name: 'efi', ...efi },
    { name: 'tpm', ...tpm },
    { name: 'bridges', ...bridges },
    { name: 'outside', ...podNetworkOutside },
  ];
}

/** Where that cannot be found out soon, none are counted. */
async function countRunning(hypervisor: Hypervisor): Promise<number> {
  try {
    const all = await hypervisor.list(AbortSignal.timeout(countLimitMs));
    return all.filter(({ state }) => state !== 'ended').length;
  } catch {
    return 0;
  }
}

function memoryForMachines(): number {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return total - Math.min(keptMemoryBytes, Math.floor(total / 8));
}
