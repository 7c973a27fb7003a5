/** A port of the host that leads into a sandbox. */
export interface HostPort {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly hostPort: number;
  readonly containerPort: number;
  /** Only on this address of the host; on all of them, if absent. */
  readonly hostAddress?: string;
}

export type SandboxNetwork =
  /** The host's own: its addresses, its ports, its name. */
  | { readonly kind: 'host' }
  /** An address of its own on the network of this host's pods. A host port that is taken is a `Conflict`. */
  | { readonly kind: 'pod'; readonly hostPorts: readonly HostPort[] };

/** What `/etc/resolv.conf` of a sandbox says. */
export interface SandboxDns {
  /** At least one; none at all makes a file without servers. */
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  /** As they stand in the file: `ndots:5`. */
  readonly options: readonly string[];
}

/** The file itself. */
export function resolverText({ servers, searches, options }: SandboxDns): string {
  return [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
    '',
  ].join('\n');
}

/** Images of this registry are programs of the host. There is no such registry. */
export const hostProgramRegistry = 'sheaf.local/';

/** What the containers of one pod share: network, host name, names of other hosts, shared memory. */
export interface SandboxSpec {
  /** One life of one pod, such as its UID and an attempt: `[A-Za-z0-9][A-Za-z0-9_.-]{0,199}`. Never used again for another. */
  readonly id: string;
  /** `NAMESPACE/NAME`, for people who look at the host. */
  readonly title: string;
  /** Come back with each observation. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the containers are told they run on; on the host's network it is the host's name. */
  readonly hostname: string;
  /** What follows the host name in its full name, which `/etc/hosts` tells; without one it has none. */
  readonly domain?: string;
  readonly network: SandboxNetwork;
  /** The host's own, if absent. */
  readonly dns?: SandboxDns;
  /** Lines of `/etc/hosts` beside those for itself. */
  readonly hosts?: readonly { readonly address: string; readonly names: readonly string[] }[];
  /** Whose processes a container sees: its own, those of the sandbox, those of the host. */
  readonly processes: 'container' | 'sandbox' | 'host';
  readonly sharedMemory: 'sandbox' | 'host';
  /** Its containers are programs of the host, named by images of `hostProgramRegistry`; then it has the host's network. */
  readonly isForPrograms?: boolean;
  /** Kernel settings of its namespaces. */
  readonly sysctls?: Readonly<Record<string, string>>;
}

/**
 * A sandbox as it is found now.
 *
 * - `starting`: `startSandbox` has not got through. If nobody is in it any more, call it again.
 * - `ready`: containers can be started in it.
 * - `ended`: it was ended, or did not outlive a restart of the host; its containers do not run any more and its address is given
 *   back. It stays so: the pod's next life is another sandbox.
 */
export interface SandboxObservation {
  readonly id: string;
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'starting' | 'ready' | 'ended';
  /** On the network of pods, the preferred one first; none on the host's network, none unless it is `ready`. */
  readonly addresses: readonly string[];
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}
