import type { HostAddress } from '@sheaf/ports';

/** As the runtime lists them. */
export interface InterfaceAddress {
  readonly address: string;
  readonly family: string;
  readonly internal: boolean;
}

/** Made for guests and containers; nobody outside reaches this host by them. */
const ofGuests = /^(docker|veth|virbr|cni|shp|flannel|tap|tun|br-)/;
const linkLocal = /^(fe80:|169\.254\.)/i;

/** Those under which others reach this host, IPv4 first; in the order of the interfaces. */
export function addressesOf(
  interfaces: Readonly<Record<string, readonly InterfaceAddress[] | undefined>>,
): readonly HostAddress[] {
  const all = Object.entries(interfaces)
    .filter(([name]) => !ofGuests.test(name))
    .flatMap(([, addresses = []]) => addresses)
    .filter(({ internal, address }) => !internal && !linkLocal.test(address));
  return (['IPv4', 'IPv6'] as const).flatMap((family) =>
    all.filter((each) => each.family === family).map(({ address }) => ({ family, address })),
  );
}
