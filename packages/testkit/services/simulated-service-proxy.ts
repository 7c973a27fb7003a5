import { StatusError } from '@sheaf/base';
import type {
  Capability,
  ProxiedPort,
  ProxiedService,
  ServiceProblem,
  ServiceProxy,
  ServiceProxyCapabilities,
} from '@sheaf/ports';
import type { SimulatedServiceHost } from './simulated-service-host.ts';

const unknown: Capability = {
  isAvailable: false,
  reason: 'nobody has looked yet',
  wayOut: 'probe this host',
};
const simulated: Capability = { isAvailable: true, reason: 'it is simulated' };

/** Services of one Sheaf on a simulated host. */
export class SimulatedServiceProxy implements ServiceProxy {
  readonly #host: SimulatedServiceHost;
  readonly #mark: string;
  readonly #held = new Set<string>();
  #capabilities: ServiceProxyCapabilities = { services: unknown, affinity: unknown, udpMoves: unknown };

  constructor(host: SimulatedServiceHost, mark: string) {
    this.#host = host;
    this.#mark = mark;
  }

  capabilities(): ServiceProxyCapabilities {
    return this.#capabilities;
  }

  async probe(signal: AbortSignal): Promise<ServiceProxyCapabilities> {
    signal.throwIfAborted();
    const { obstacle } = this.#host.faults;
    const services =
      obstacle === undefined ? simulated : { isAvailable: false, reason: obstacle, wayOut: 'end the fault' };
    this.#capabilities = { services, affinity: simulated, udpMoves: simulated };
    return await Promise.resolve(this.#capabilities);
  }

  async apply(services: readonly ProxiedService[], signal: AbortSignal): Promise<readonly ServiceProblem[]> {
    signal.throwIfAborted();
    const { isAvailable, reason } = this.#capabilities.services;
    if (!isAvailable && services.length > 0)
      throw new StatusError({ reason: 'ServiceUnavailable', message: reason });
    const { refusal } = this.#host.faults;
    const problems: ServiceProblem[] = [];
    this.#letGo(services.flatMap(({ ports }) => ports.flatMap(portKeys)));
    const served = services.flatMap((service): readonly ProxiedService[] => {
      const words = refusal?.(service);
      if (words === undefined) return [this.#claim(service, problems)];
      problems.push({
        serviceId: service.id,
        reason: 'RulesRefused',
        message: words,
        wayOut: 'end the fault',
      });
      return [];
    });
    this.#host.rules.set(this.#mark, served);
    return await Promise.resolve(problems);
  }

  async release(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#host.pods === 0) this.#host.rules.delete(this.#mark);
    await Promise.resolve();
  }

  dispose(): void {
    this.#letGo([]);
  }

  #letGo(wanted: readonly string[]): void {
    for (const key of this.#held) {
      if (wanted.includes(key)) continue;
      this.#held.delete(key);
      this.#host.ports.delete(key);
    }
  }

  #claim(service: ProxiedService, problems: ServiceProblem[]): ProxiedService {
    const ports = service.ports.map((port) => {
      const [key] = portKeys(port);
      if (key === undefined || this.#takes(key)) return port;
      const { nodePort, ...others } = port;
      problems.push({
        serviceId: service.id,
        reason: 'NodePortInUse',
        message: `port ${nodePort} (${port.protocol}) of this host belongs to another program`,
        wayOut: 'end that program, or choose another nodePort',
      });
      return others;
    });
    return { ...service, ports };
  }

  #takes(key: string): boolean {
    if (this.#held.has(key)) return true;
    if (this.#host.ports.has(key)) return false;
    this.#host.ports.set(key, this.#mark);
    this.#held.add(key);
    return true;
  }
}

function portKeys({ protocol, nodePort }: ProxiedPort): readonly string[] {
  return nodePort === undefined ? [] : [`${protocol}/${nodePort}`];
}
