import type { JsonObject } from '@sheaf/base';
import type { PortForward } from '@sheaf/ports';

/** Of KubeVirt; it is what guests and their documentation expect. */
const defaultCidr = '10.0.2.0/24';

/** The addresses on one card's pod network: the first of the range is the gateway, the second the guest. */
export interface PodAddresses {
  readonly network: string;
  readonly prefix: number;
  readonly gateway: string;
  readonly guest: string;
  /** Answers names where the host's own resolver listens on its loopback. */
  readonly resolver: string;
}

/** A way in: what arrives on a port of the host's loopback goes to a port of the guest. */
export interface PodForward extends PortForward {
  readonly hostPort: number;
  /** Someone asked for it; the others are kept ready. */
  readonly isWanted: boolean;
}

/** Ports that are kept ready beside those that are declared: passt learns of forwards only when it starts. */
const readyPorts = {
  tcp: [22, 25, 80, 443, 3000, 3306, 3389, 5000, 5432, 5900, 5985, 6443, 8000, 8080, 8443, 9090],
  udp: [53, 123, 161, 514, 1194, 5060, 51_820],
} as const;

/** @throws Error for what is no range of at least eight IPv4 addresses */
export function podAddresses(cidr = defaultCidr): PodAddresses {
  const [, address = '', length = ''] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr) ?? [];
  const bytes = address.split('.').map(Number);
  const prefix = Number(length);
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255) || prefix < 1 || prefix > 29)
    throw new Error(`${cidr} is no range for a pod network: name one such as ${defaultCidr}`);
  const size = 2 ** (32 - prefix);
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const first = number - (number % size);
  const at = (offset: number): string =>
    [24, 16, 8, 0].map((shift) => Math.floor((first + offset) / 2 ** shift) % 256).join('.');
  return {
    network: `${at(0)}/${prefix}`,
    prefix,
    gateway: at(1),
    guest: at(2),
    resolver: at(3),
  };
}

/** All forwards that a card gets, their ports on the host still to be found. */
export function forwardsToMake(declared: readonly PortForward[]): readonly Omit<PodForward, 'hostPort'>[] {
  const isDeclared = ({ protocol, guestPort }: PortForward): boolean =>
    declared.some((forward) => forward.protocol === protocol && forward.guestPort === guestPort);
  const ready = (['tcp', 'udp'] as const)
    .flatMap((protocol) => readyPorts[protocol].map((guestPort) => ({ protocol, guestPort })))
    .filter((forward) => !isDeclared(forward));
  return [
    ...declared.map(({ protocol, guestPort }) => ({ protocol, guestPort, isWanted: true })),
    ...ready.map((forward) => ({ ...forward, isWanted: false })),
  ];
}

/** Such a network, as QEMU makes it. A forward without a port on the host gets one from the kernel. */
export function emulatedNetwork(
  { network, gateway, guest, resolver }: PodAddresses,
  forwards: readonly (PortForward & { readonly hostPort?: number })[],
): JsonObject {
  const ways = forwards.map(({ protocol, hostPort, guestPort }) => ({
    str: `${protocol}:127.0.0.1:${hostPort ?? '0'}-:${guestPort}`,
  }));
  return {
    type: 'user',
    net: network,
    host: gateway,
    dhcpstart: guest,
    dns: resolver,
    ...(ways.length > 0 && { hostfwd: ways }),
  };
}
