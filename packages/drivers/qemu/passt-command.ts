import type { PodAddresses, PodForward } from './pod-network.ts';

/** What is run as the pod network of a card. */
export interface Passt {
  readonly program: string;
  /**
   * The program that makes a network for `program` to be in, where nothing listens on the loopback, and connects it with that of
   * the host: for versions of `program` that carry a guest to the loopback beside them. Absent: it is in the host's network.
   */
  readonly pasta?: string;
}

interface PasstOptions {
  readonly addresses: PodAddresses;
  readonly forwards: readonly PodForward[];
  /** Both relative to the directory that it is started in. */
  readonly socket: string;
  readonly ready: string;
  /** The user that it becomes in the network of the host. */
  readonly runAs: number | undefined;
}

/**
 * A user without rights on the host, and processes that end with the first of them: also those that a failed or killed pasta leaves
 * behind. The user keeps his files, among them /dev/net/tun.
 */
const confined = [
  ...['unshare', '--user', '--map-user=65534', '--map-group=65534'],
  ...['--pid', '--fork', '--kill-child', '--mount-proc'],
];

/** Program and arguments. */
export function passtCommand({ program, pasta }: Passt, options: PasstOptions): readonly string[] {
  if (pasta === undefined) return [program, ...inHostNetwork(options)];
  return [...confined, pasta, ...betweenNetworks(options), '--', program, ...inOwnNetwork(options)];
}

function inHostNetwork(options: PasstOptions): readonly string[] {
  const { runAs, addresses } = options;
  return [
    ...always(addresses),
    ...(runAs === undefined ? [] : ['--runas', `${runAs}:${runAs}`]),
    ...['--dns-forward', addresses.resolver],
    ...forGuest(options),
  ];
}

function inOwnNetwork(options: PasstOptions): readonly string[] {
  // Questions to the resolver's address leave the guest's network, and are answered at the host's end of the next one.
  return [...always(options.addresses), '--dns', options.addresses.resolver, ...forGuest(options)];
}

/** The network between is that of the guest once more: what is there hides nothing outside that the guest could mean. */
function betweenNetworks({ addresses, forwards }: PasstOptions): readonly string[] {
  return [
    ...always(addresses),
    // A name and an address of its own: it starts also while the host has no way out, and follows it later.
    ...['--config-net', '--interface', 'lo', '--ns-ifname', 'host', '--mac-addr', '02:00:00:00:00:01'],
    ...['--dns-forward', addresses.resolver],
    ...ports(forwards.map((forward) => ({ ...forward, guestPort: forward.hostPort }))),
    // Otherwise what listens on the host's loopback would listen here, too.
    ...['--tcp-ns', 'none', '--udp-ns', 'none'],
  ];
}

function always({ guest, prefix, gateway }: PodAddresses): readonly string[] {
  return [
    ...['--foreground', '--quiet', '--stderr', '--ipv4-only'],
    // Without it the gateway's address is the host's loopback.
    '--no-map-gw',
    ...['--address', guest, '--netmask', String(prefix), '--gateway', gateway],
  ];
}

function forGuest({ forwards, socket, ready }: PasstOptions): readonly string[] {
  // It ends with the connection of the machine.
  return ['--one-off', ...ports(forwards), '--pid', ready, '--socket', socket];
}

function ports(forwards: readonly PodForward[]): readonly string[] {
  return (['tcp', 'udp'] as const).flatMap((protocol) => {
    const option = `--${protocol}-ports`;
    const own = forwards.filter((forward) => forward.protocol === protocol);
    if (own.length === 0) return [option, 'none'];
    return own.flatMap(({ hostPort, guestPort }) => [option, `127.0.0.1/${hostPort}:${guestPort}`]);
  });
}
