import type { Random } from '@sheaf/base';
import type { ProxiedPort, ProxiedService, ProxyBackend } from '@sheaf/ports';

interface Target {
  readonly protocol: ProxiedPort['protocol'];
  readonly address: string;
  readonly port: number;
}

export interface ServiceFaults {
  /** Why the rules of a Service are refused. */
  refusal?: (service: ProxiedService) => string | undefined;
  /** Why nothing can be done at all. */
  obstacle?: string;
}

/** What a host knows of Services: the rules of each Sheaf on it, who has come where, and which of its ports are taken. */
export class SimulatedServiceHost {
  /** By the mark of a Sheaf. */
  readonly rules = new Map<string, readonly ProxiedService[]>();
  /** By `PROTOCOL/PORT`, who has it. */
  readonly ports = new Map<string, string>();
  readonly faults: ServiceFaults = {};
  /** How many pods of the first Sheaf there are. */
  pods = 0;
  readonly #random: Random;
  /** Where clients have come, by client and Service. */
  readonly #known = new Map<string, ProxyBackend>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Where somebody who asks is sent; `undefined`: he is refused. */
  lead(client: string, target: Target): ProxyBackend | undefined {
    for (const service of [...this.rules.values()].flat()) {
      const backends = backendsOf(service, target);
      if (backends) return this.#choose(`${client} ${service.id}`, service, backends);
    }
    return undefined;
  }

  #choose(
    key: string,
    { affinitySeconds }: ProxiedService,
    backends: readonly ProxyBackend[],
  ): ProxyBackend | undefined {
    const known = affinitySeconds === undefined ? undefined : this.#known.get(key);
    const before = backends.find(({ address }) => address === known?.address);
    const chosen = before ?? backends[this.#random.integer(backends.length)];
    if (chosen) this.#known.set(key, chosen);
    return chosen;
  }
}

/** `undefined`: the Service has no such port at this address. */
function backendsOf(
  { addresses, externalAddresses, ports }: ProxiedService,
  { protocol, address, port }: Target,
): readonly ProxyBackend[] | undefined {
  const own = ports.filter((each) => each.protocol === protocol);
  const named = own.find((each) => each.port === port);
  if (named && addresses.includes(address)) return named.backends;
  const isHost = address === '127.0.0.1';
  const outside = isHost ? own.find(({ nodePort }) => nodePort === port) : named;
  if (!outside || !(isHost || externalAddresses.includes(address))) return undefined;
  return outside.outsideBackends.filter((backend) => !backend.address.startsWith('127.'));
}
