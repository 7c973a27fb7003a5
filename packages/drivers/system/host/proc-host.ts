import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Host, HostFacts } from '@sheaf/ports';
import { addressesOf, type InterfaceAddress } from './host-addresses.ts';
import { loadOf, osImageOf, uptimeOf } from './proc-texts.ts';

/** What the running program is told by its runtime. */
export interface HostRuntime {
  readonly platform: string;
  hostname(): string;
  cpuCount(): number;
  machine(): string;
  totalMemory(): number;
  /** 0: there is no limit. */
  memoryLimit(): number;
  /** `undefined`: it is not known. */
  availableMemory(): number | undefined;
  interfaces(): Readonly<Record<string, readonly InterfaceAddress[] | undefined>>;
}

export interface ProcHostOptions {
  readonly runtime: HostRuntime;
  /** Where `/proc`, `/etc` and `/sys` are. */
  readonly roots: { readonly proc: string; readonly etc: string; readonly sys: string };
  readonly dataDir: string;
}

const architectures: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };

/** A Linux host, from what its kernel says. In a container, the limits of the container count. */
export class ProcHost implements Host {
  readonly #options: ProcHostOptions;

  constructor(options: ProcHostOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<HostFacts> {
    signal.throwIfAborted();
    const { runtime, roots, dataDir } = this.#options;
    const { proc, etc, sys } = roots;
    const [osRelease, kernelVersion, bootId, machineId, systemUuid, uptime, disk, processes] =
      await Promise.all([
        textIn(join(etc, 'os-release')),
        textIn(join(proc, 'sys/kernel/osrelease')),
        textIn(join(proc, 'sys/kernel/random/boot_id')),
        textIn(join(etc, 'machine-id')),
        textIn(join(sys, 'class/dmi/id/product_uuid')),
        textIn(join(proc, 'uptime')),
        spaceOf(dataDir),
        processesOf(proc),
      ]);
    signal.throwIfAborted();
    const machine = runtime.machine();
    const memoryBytes = memoryOf(runtime);
    const available = runtime.availableMemory();
    return {
      hostname: runtime.hostname(),
      addresses: addressesOf(runtime.interfaces()),
      cpuCount: runtime.cpuCount(),
      memoryBytes,
      availableMemoryBytes: available === undefined ? undefined : Math.min(available, memoryBytes),
      operatingSystem: runtime.platform,
      architecture: architectures[machine] ?? machine,
      osImage: osRelease === undefined ? undefined : osImageOf(osRelease),
      kernelVersion,
      bootId,
      machineId,
      systemUuid,
      disk,
      processes,
      uptimeSeconds: uptime === undefined ? undefined : uptimeOf(uptime),
    };
  }
}

function memoryOf(runtime: HostRuntime): number {
  const [total, limit] = [runtime.totalMemory(), runtime.memoryLimit()];
  return limit > 0 ? Math.min(limit, total) : total;
}

/** Kernels and rights differ: what cannot be read is not known. */
async function textIn(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text?.trim() || undefined;
}

async function spaceOf(directory: string): Promise<HostFacts['disk']> {
  const found = await statfs(directory).catch(() => undefined);
  if (!found) return undefined;
  return { totalBytes: found.blocks * found.bsize, availableBytes: found.bavail * found.bsize };
}

async function processesOf(proc: string): Promise<HostFacts['processes']> {
  const [load, pidMax, threadsMax] = await Promise.all([
    textIn(join(proc, 'loadavg')),
    textIn(join(proc, 'sys/kernel/pid_max')),
    textIn(join(proc, 'sys/kernel/threads-max')),
  ]);
  const count = load === undefined ? undefined : loadOf(load);
  const limit = Math.min(Number(pidMax ?? Number.NaN), Number(threadsMax ?? Number.NaN));
  return count === undefined || !(limit >= count) ? undefined : { count, limit };
}
