import { resolverText, type SandboxDns, type SandboxObservation, type SandboxSpec } from '@sheaf/ports';
import type { SimulatedContainer } from './simulated-container.ts';

/** One sandbox of a simulated host. */
export class SimulatedSandbox {
  readonly spec: SandboxSpec;
  readonly createdAt: number;
  readonly containers = new Map<string, SimulatedContainer>();
  /** Who listens on its ports. */
  readonly listeners = new Map<number, SimulatedContainer>();
  state: SandboxObservation['state'] = 'starting';
  address: string | undefined;
  /** What containers have added to the files that they share. */
  readonly #written = new Map<string, string>();

  constructor(spec: SandboxSpec, createdAt: number) {
    this.spec = spec;
    this.createdAt = createdAt;
  }

  observe(): SandboxObservation {
    const { id, title, labels } = this.spec;
    const addresses = this.state === 'ready' && this.address !== undefined ? [this.address] : [];
    return { id, title, labels, state: this.state, addresses, createdAt: this.createdAt };
  }

  /** It and all in it; `end` says how its containers ended. */
  close(finish: (container: SimulatedContainer) => void): void {
    this.state = 'ended';
    this.address = undefined;
    this.listeners.clear();
    for (const container of this.containers.values()) finish(container);
  }

  /** The files for the names of hosts. */
  nameFile(path: string): string | undefined {
    const text = this.#nameFile(path);
    return text && text + (this.#written.get(path) ?? '');
  }

  /** Whether it is one of them, which all containers share. */
  writeNameFile(path: string, text: string): boolean {
    if (this.#nameFile(path) === undefined) return false;
    this.#written.set(path, (this.#written.get(path) ?? '') + text);
    return true;
  }

  #nameFile(path: string): string | undefined {
    if (path === '/etc/resolv.conf') return resolverText(this.spec.dns ?? hostDns);
    if (path !== '/etc/hosts') return undefined;
    const { hosts = [], hostname, domain } = this.spec;
    const names = domain === undefined ? [hostname] : [`${hostname}.${domain}`, hostname];
    const others = hosts.map(({ address, names: own }) => [address, ...own].join('\t'));
    const own = this.address === undefined ? [] : [[this.address, ...names].join('\t')];
    return ['127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost ip6-loopback', ...own, ...others, ''].join(
      '\n',
    );
  }

  processesSeenBy(container: SimulatedContainer): number {
    const { processesOf } = container.spec;
    const other = processesOf === undefined ? undefined : this.containers.get(processesOf);
    if (this.spec.processes === 'container') return container.processCount + (other?.processCount ?? 0);
    const all = [...this.containers.values()].reduce((sum, { processCount }) => sum + processCount, 0);
    // The one that holds the namespaces, too; on the host many more.
    return all + (this.spec.processes === 'host' ? 100 : 1);
  }
}

const hostDns: SandboxDns = { servers: ['192.0.2.1'], searches: [], options: [] };
