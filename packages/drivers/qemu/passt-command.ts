import { emulatedNetwork, type PodAddresses, type PodForward } from './pod-network.ts';

/** What is run as the pod network of a card. */
export type Passt =
  /** passt itself, in the network of the host. */
  | { readonly kind: 'beside'; readonly program: string }
  /**
   * The network of QEMU itself, as a process of its own, in a network that pasta makes, where nothing listens on the loopback, and
   * connects with that of the host: where passt carries a guest to the loopback beside it.
   */
  | { readonly kind: 'apart'; readonly pasta: string; readonly emulator: string };

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
  // What is unmounted on the host is not kept in use here.
  ...['--propagation', 'slave', '--pid', '--fork', '--kill-child', '--mount-proc'],
];

/**
 * Runs the program that follows the names of the file that tells that it is ready and of the resolver, until it has lost the
 * connection of its machine. It asks the resolver that /etc/resolv.conf names, so it gets one that names the one in its network.
 */
const untilDisconnected = `
ready=$1 resolver=$2; shift 2
if [ -e /etc/resolv.conf ]; then
  echo "nameserver $resolver" >resolv.conf && mount --bind resolv.conf /etc/resolv.conf || exit 71
fi
rm -f commands events && mkfifo commands events && exec 3<>commands || exit 71
"$@" <&3 >events &
exec 4<events
echo '{"execute":"qmp_capabilities"}' >&3
while read -r event <&4; do
  case $event in
    *'"return"'*) echo $$ >"$ready" ;;
    *'"NETDEV_STREAM_DISCONNECTED"'*) exit ;;
  esac
done
exit 71
`;

/** Program and arguments. */
export function passtCommand(passt: Passt, options: PasstOptions): readonly string[] {
  if (passt.kind === 'beside') return [passt.program, ...inHostNetwork(options)];
  const { ready, addresses } = options;
  const inside = [
    'unshare',
    '--mount',
    '--propagation',
    'slave',
    'sh',
    '-c',
    untilDisconnected,
    'pod-network',
  ];
  return [
    ...confined,
    passt.pasta,
    ...betweenNetworks(options),
    ...['--', ...inside, ready, addresses.resolver, passt.emulator, ...networkAlone(options)],
  ];
}

function inHostNetwork({ forwards, socket, ready, runAs, addresses }: PasstOptions): readonly string[] {
  return [
    ...always(addresses),
    ...(runAs === undefined ? [] : ['--runas', `${runAs}:${runAs}`]),
    ...['--dns-forward', addresses.resolver],
    // It ends with the connection of the machine.
    ...['--one-off', ...ports(forwards), '--pid', ready, '--socket', socket],
  ];
}

/** A QEMU without a machine: the network of one that is elsewhere. */
function networkAlone({ addresses, forwards, socket }: PasstOptions): readonly string[] {
  const network = { ...emulatedNetwork(addresses, forwards), id: 'network', ipv6: false };
  const machine = { type: 'stream', id: 'machine', server: true, addr: { type: 'unix', path: socket } };
  const joined = ['network', 'machine'].map((netdev) => ({
    type: 'hubport',
    id: `joined-${netdev}`,
    hubid: 0,
    netdev,
  }));
  return [
    ...['-machine', 'none', '-accel', 'tcg,tb-size=1', '-nodefaults', '-no-user-config', '-display', 'none'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny', '-qmp', 'stdio'],
    ...[network, machine, ...joined].flatMap((netdev) => ['-netdev', JSON.stringify(netdev)]),
  ];
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

function ports(forwards: readonly PodForward[]): readonly string[] {
  return (['tcp', 'udp'] as const).flatMap((protocol) => {
    const option = `--${protocol}-ports`;
    const own = forwards.filter((forward) => forward.protocol === protocol);
    if (own.length === 0) return [option, 'none'];
    return own.flatMap(({ hostPort, guestPort }) => [option, `127.0.0.1/${hostPort}:${guestPort}`]);
  });
}
