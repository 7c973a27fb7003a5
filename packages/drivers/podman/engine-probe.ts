import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Capability, ContainerCapabilities } from '@sheaf/ports';
import { available, missing } from '../qemu/capabilities.ts';
import { keptAnswer } from '../qemu/kept-answer.ts';
import { findProgram, runProgram } from '../qemu/run-program.ts';
import { TaskQueue } from '../qemu/task-queue.ts';
import type { EngineChoice, EngineSettings } from './engine-files.ts';
import type { EngineLayout } from './engine-layout.ts';
import type { PodmanLimits } from './engine-limits.ts';
import { type TrialResult, tryEngines } from './engine-trial.ts';
import { freeSubnet } from './pod-subnet.ts';

/** Everything that containers need, as Debian names it; the optional parts too. */
const installCommand =
  'apt-get install --no-install-recommends podman runc netavark iptables util-linux iproute2';

export interface EngineProbeOptions {
  readonly layout: EngineLayout;
  readonly bootId: string;
  readonly limits: PodmanLimits;
  /** Networks for pods, tried in turn; the first that nothing of the host overlaps with is kept. */
  readonly podSubnets: readonly string[];
  /** Why nobody wants containers here. Then nothing is looked at, tried or started. */
  readonly refusal?: EngineRefusal;
}

export interface EngineRefusal {
  readonly reason: string;
  readonly wayOut: string;
}

export interface EngineFound {
  readonly capabilities: ContainerCapabilities;
  /** Absent where containers cannot be run. */
  readonly settings?: EngineSettings;
}

interface Programs {
  readonly version: string;
  readonly runtimes: readonly { readonly name: string; readonly version: string }[];
}

/** Finds out what this machine can do: by trying, once for each of its programs, its kernel and its network. */
export class EngineProbe {
  readonly #options: EngineProbeOptions;
  readonly #queue = new TaskQueue();
  #found: EngineFound = { capabilities: unavailable('nobody has looked yet', 'probe this host') };
  #isTried = false;

  constructor(options: EngineProbeOptions) {
    this.#options = options;
  }

  found(): EngineFound {
    return this.#found;
  }

  async run(): Promise<EngineFound> {
    return await this.#queue.run(async () => {
      this.#found = await this.#find();
      this.#isTried = true;
      return this.#found;
    });
  }

  /** What is installed, without trying anything. What has been found out by trying stands. */
  async look(): Promise<ContainerCapabilities> {
    return await this.#queue.run(async () => {
      if (!this.#isTried || !this.#found.settings) {
        const programs = await findPrograms();
        this.#found = { capabilities: this.#obstacle(programs) ?? untried(programs) };
      }
      return this.#found.capabilities;
    });
  }

  #obstacle(programs: Programs): ContainerCapabilities | undefined {
    const { refusal } = this.#options;
    return refusal ? unavailable(refusal.reason, refusal.wayOut) : obstacleOf(programs);
  }

  async #find(): Promise<EngineFound> {
    const { layout, podSubnets } = this.#options;
    const programs = await findPrograms();
    const obstacle = this.#obstacle(programs);
    if (obstacle) return { capabilities: obstacle };
    const podSubnet = hasNetavark() ? await freeSubnet(layout, podSubnets) : undefined;
    const conmon = findProgram('conmon') ?? 'conmon';
    const base = { conmon, ...(podSubnet !== undefined && { podSubnet }), ...(await processLimits()) };
    const trial = await this.#try(programs, base);
    const { choice, failures } = trial;
    if (!choice) {
      const reason = `no container could be started: ${failures.join('; ')}`;
      return { capabilities: unavailable(reason, `${installCommand}, or see what these programs say`) };
    }
    return {
      settings: { ...base, ...choice },
      capabilities: capabilitiesOf(programs, { ...trial, choice }, podSubnet),
    };
  }

  async #try(programs: Programs, settings: Omit<EngineSettings, keyof EngineChoice>): Promise<TrialResult> {
    const { layout, limits, bootId } = this.#options;
    const storages = existsSync(join(layout.storage, 'vfs')) ? ['vfs'] : ['overlay', 'vfs'];
    const candidates = storages.flatMap((storage) =>
      programs.runtimes.map(({ name }) => ({ runtime: name, storage })),
    );
    const key = JSON.stringify({ programs, settings, candidates, bootId });
    await mkdir(layout.directory, { recursive: true, mode: 0o700 });
    const tries = (isFresh: boolean): Promise<TrialResult> =>
      keptAnswer({ path: join(layout.directory, 'trial.json'), key, isFresh }, () =>
        tryEngines({ layout, settings, candidates, limitMs: limits.trialMs }),
      );
    const kept = await tries(false);
    // What works is not tried again; what stood against it may have gone.
    return kept.choice && !kept.networkFailure && !kept.limitFailure ? kept : await tries(true);
  }
}

/** What stands against any trial. */
function obstacleOf({ runtimes }: Programs): ContainerCapabilities | undefined {
  if (process.getuid?.() !== 0) return unavailable('this process is not root', 'run Sheaf as root');
  const absent = ['podman', 'conmon', 'setpriv', 'umount'].filter((name) => findProgram(name) === undefined);
  if (absent.length > 0) return unavailable(`${absent.join(', ')} is not installed`, installCommand);
  return runtimes.length === 0
    ? unavailable('neither crun nor runc is installed', installCommand)
    : undefined;
}

/** Everything is there; the first container will tell the rest. */
function untried({ version, runtimes }: Programs): ContainerCapabilities {
  const [runtime = { name: '', version: '' }] = runtimes;
  const nothing = missing('nobody has tried yet', 'start a pod');
  return {
    containers: available(`podman ${version} with ${runtime.name}; tried out with the first pod`),
    podNetwork: nothing,
    limits: nothing,
    seccomp: nothing,
    engine: {
      version: `podman ${version}`,
      runtime: `${runtime.name} ${runtime.version}`.trim(),
      storage: '',
    },
  };
}

function unavailable(reason: string, wayOut: string): ContainerCapabilities {
  const nothing = missing(reason, wayOut);
  return { containers: nothing, podNetwork: nothing, limits: nothing, seccomp: nothing };
}

function capabilitiesOf(
  programs: Programs,
  trial: TrialResult & { readonly choice: EngineChoice },
  podSubnet: string | undefined,
): ContainerCapabilities {
  const { choice, limitFailure, failures } = trial;
  const runtime = programs.runtimes.find(({ name }) => name === choice.runtime);
  const words = failures.length > 0 ? `; did not work: ${failures.join('; ')}` : '';
  const podNetwork = networkCapability(trial, podSubnet);
  return {
    containers: available(`podman ${programs.version} with ${choice.runtime} on ${choice.storage}${words}`),
    podNetwork,
    limits:
      limitFailure === undefined
        ? available('limits were set on a container')
        : missing(limitFailure, 'give this host control groups for memory, cpu and pids'),
    seccomp: existsSync('/usr/share/containers/seccomp.json')
      ? available('the profile of podman')
      : missing('there is no profile', 'apt-get install golang-github-containers-common'),
    ...(podNetwork.isAvailable && podSubnet !== undefined && { podSubnet }),
    engine: {
      version: `podman ${programs.version}`,
      runtime: `${choice.runtime} ${runtime?.version ?? ''}`.trim(),
      storage: choice.storage,
    },
  };
}

function networkCapability({ networkFailure }: TrialResult, podSubnet: string | undefined): Capability {
  if (!hasNetavark()) return missing('netavark or iptables is not installed', installCommand);
  if (podSubnet === undefined)
    return missing(
      'every network for pods overlaps with one of the host',
      'name one that is free on this host and around it',
    );
  return networkFailure === undefined
    ? available(`a bridge on ${podSubnet}`)
    : missing(networkFailure, 'see what netavark and iptables say');
}

function hasNetavark(): boolean {
  const places = [
    '/usr/lib/podman',
    '/usr/libexec/podman',
    '/usr/local/lib/podman',
    '/usr/local/libexec/podman',
  ];
  return places.some((place) => existsSync(join(place, 'netavark'))) && findProgram('iptables') !== undefined;
}

async function findPrograms(): Promise<Programs> {
  const runtimes = ['crun', 'runc'].filter((name) => findProgram(name) !== undefined);
  const [version, ...versions] = await Promise.all(['podman', ...runtimes].map(versionOf));
  return {
    version: version ?? '',
    runtimes: runtimes.map((name, index) => ({ name, version: versions[index] ?? '' })),
  };
}

async function versionOf(program: string): Promise<string> {
  const { output } = await runProgram(program, ['--version']);
  return /version (\S+)/.exec(output)?.[1] ?? '';
}

const mostFiles = 1_048_576;

/** What this process may give its children: it may not give more than it has. */
async function processLimits(): Promise<{ readonly fileLimit: number; readonly processLimit: number }> {
  const text = await readFile('/proc/self/limits', 'utf8');
  const hard = (name: string): number => {
    const value = new RegExp(`^${name}\\s+\\S+\\s+(\\S+)`, 'm').exec(text)?.[1];
    return value === undefined || value === 'unlimited' ? mostFiles : Math.min(Number(value), mostFiles);
  };
  // podman gives itself no more processes than there are numbers for.
  const numbers = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8'));
  return { fileLimit: hard('Max open files'), processLimit: Math.min(hard('Max processes'), numbers) };
}
