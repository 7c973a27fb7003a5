import type { Disposable } from '@sheaf/base';
import type { Capability } from './capability.ts';

/** Who takes what comes for a Service. One on the loopback is a part of this process: only pods and this host get there. */
export interface ProxyBackend {
  /** IPv4. */
  readonly address: string;
  readonly port: number;
}

export interface ProxiedPort {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
  /** For what comes to the addresses of the Service. None: refused at once. */
  readonly backends: readonly ProxyBackend[];
  /** The same port on every address of this host, for everybody who reaches the host. */
  readonly nodePort?: number;
  /** For what comes to the port of the host, and to external addresses. */
  readonly outsideBackends: readonly ProxyBackend[];
}

export interface ProxiedService {
  /** `NAMESPACE/NAME` */
  readonly id: string;
  /** IPv4; answered for pods of this host and for the host itself, nobody else. */
  readonly addresses: readonly string[];
  /** IPv4; answered for everybody whose packets come to this host. */
  readonly externalAddresses: readonly string[];
  /** Who has come is sent to the same backend again for so long. */
  readonly affinitySeconds?: number;
  readonly ports: readonly ProxiedPort[];
}

/** What keeps a Service from being served as it is wanted. All others are served. */
export interface ServiceProblem {
  readonly serviceId: string;
  /** PascalCase. */
  readonly reason: 'NodePortInUse' | 'AffinityNotKept' | 'RulesRefused';
  readonly message: string;
  readonly wayOut: string;
}

export interface ServiceProxyCapabilities {
  /** Services can be reached. */
  readonly services: Capability;
  /** Clients can be sent to the same backend again. */
  readonly affinity: Capability;
  /** UDP clients that never pause are moved from a backend that is gone to another one at once. */
  readonly udpMoves: Capability;
}

/**
 * Makes Services reachable from pods and from this host.
 *
 * `apply` looks at the world first (a driver may believe for some seconds what it has seen), and is the only thing that has effects: what was made by an earlier life, was left by one that was
 * killed, or was taken away by others becomes what is wished, in one step that cuts no connection to a backend that stays. Only
 * what is ours is touched; others on the same host have rules of their own. What was applied outlives this process as long as pods
 * do. Calls reject with a `StatusError` with the way out where nothing can be done at all, and take bounded time.
 */
export interface ServiceProxy extends Disposable {
  /** Before the first `probe`, nothing is available, and a wish that needs it is refused. */
  capabilities(): ServiceProxyCapabilities;
  /** Looks again at what this machine can do, by trying. */
  probe(signal: AbortSignal): Promise<ServiceProxyCapabilities>;
  /** Resolves when exactly these Services are served, but for the problems that it tells. */
  apply(services: readonly ProxiedService[], signal: AbortSignal): Promise<readonly ServiceProblem[]>;
  /** Takes everything away if no pod is left that could use it; else all stays, for pods run on without this process. */
  release(signal: AbortSignal): Promise<void>;
}
