import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Loopback, link-local, multicast, broadcast, unspecified: nobody gets at the host itself by way of the API. */
const special = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 32],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const)
  special.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  special.addSubnet(network, prefix, 'ipv6');

export function isGlobalUnicast(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  return isIPv6(address) && !special.check(address, 'ipv6');
}
