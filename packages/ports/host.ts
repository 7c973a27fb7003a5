/** What the machine is that everything runs on, as far as that can be found out. */
export interface HostFacts {
  /** As the machine calls itself now. */
  readonly hostname: string;
  /** Under which others reach it: no loopback, no link-local ones. The first of a family is the preferred one. */
  readonly addresses: readonly HostAddress[];
  /** Processors that this process may use. */
  readonly cpuCount: number;
  /** Memory that this process and its machines may use altogether. */
  readonly memoryBytes: number;
  readonly availableMemoryBytes: number | undefined;
  /** In the words of container images: `linux`. */
  readonly operatingSystem: string;
  /** In the words of container images: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly osImage: string | undefined;
  readonly kernelVersion: string | undefined;
  /** Another one after each start of the machine. */
  readonly bootId: string | undefined;
  readonly machineId: string | undefined;
  readonly systemUuid: string | undefined;
  /** Of what holds the data directory. */
  readonly disk: { readonly totalBytes: number; readonly availableBytes: number } | undefined;
  readonly processes: { readonly count: number; readonly limit: number } | undefined;
  readonly uptimeSeconds: number | undefined;
}

export interface HostAddress {
  readonly family: 'IPv4' | 'IPv6';
  readonly address: string;
}

/**
 * Looks at the host anew each time. A fact that cannot be found out is `undefined`, never guessed, and never keeps the others
 * from being told: it rejects only when `signal` aborts.
 */
export interface Host {
  read(signal: AbortSignal): Promise<HostFacts>;
}
