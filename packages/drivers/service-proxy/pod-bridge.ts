import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';

/** The bridge of this directory's pods: it is there as long as one of them is. */
export class PodBridge {
  readonly name: string;
  readonly #settings: string;
  readonly #filtering: string;

  constructor(name: string) {
    this.name = name;
    this.#settings = `/proc/sys/net/ipv4/conf/${name}/route_localnet`;
    this.#filtering = `/sys/class/net/${name}/bridge/nf_call_iptables`;
  }

  get isThere(): boolean {
    return existsSync(this.#settings);
  }

  /** Of its pods, such as `10.42.0.0/24`; it has an address of it itself. */
  get subnet(): string | undefined {
    const own = networkInterfaces()[this.name]?.find(({ family }) => family === 'IPv4');
    return own?.cidr ?? undefined;
  }

  /**
   * Lets pods reach the parts of this process, which listen on the loopback, and themselves by their Services. Only after the
   * rules that guard the loopback are there. A bridge or a pod that goes meanwhile is nothing to do.
   */
  async open(): Promise<void> {
    await set(this.#settings, '1');
    const ports = await names(`/sys/class/net/${this.name}/brif`);
    for (const port of ports) await set(`/sys/class/net/${port}/brport/hairpin_mode`, '1');
  }

  /**
   * Has packets from pod to pod pass the rules of IP, for this bridge alone. False where the kernel cannot: it has no module
   * br_netfilter.
   */
  async filter(): Promise<boolean> {
    await set(this.#filtering, '1');
    return (await text(this.#filtering)) === '1';
  }
}

async function set(path: string, value: string): Promise<void> {
  const now = await text(path);
  if (now === undefined || now === value) return;
  await writeFile(path, value).catch(unlessGone);
}

async function text(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').then((found) => found.trim(), unlessGone);
}

async function names(path: string): Promise<readonly string[]> {
  return (await readdir(path).catch(unlessGone)) ?? [];
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (!['ENOENT', 'ENODEV', 'EINVAL'].includes(error.code ?? '')) throw error;
  return undefined;
}
