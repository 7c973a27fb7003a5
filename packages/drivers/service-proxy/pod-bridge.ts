import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The bridge of this directory's pods: it is there as long as one of them is. */
export class PodBridge {
  readonly name: string;
  readonly #settings: string;

  constructor(name: string) {
    this.name = name;
    this.#settings = `/proc/sys/net/ipv4/conf/${name}/route_localnet`;
  }

  get isThere(): boolean {
    return existsSync(this.#settings);
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

  /** Whether packets from pod to pod pass the rules of IP; where nobody asked the kernel for that, they do not. */
  async isFiltered(): Promise<boolean> {
    return (await text('/proc/sys/net/bridge/bridge-nf-call-iptables')) === '1';
  }
}

async function set(path: string, value: string): Promise<void> {
  if ((await text(path)) === value) return;
  await writeFile(path, value).catch(unlessGone);
}

async function text(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').then((found) => found.trim(), unlessGone);
}

async function names(path: string): Promise<readonly string[]> {
  return (await readdir(join(path)).catch(unlessGone)) ?? [];
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (!['ENOENT', 'ENODEV', 'EINVAL'].includes(error.code ?? '')) throw error;
  return undefined;
}
