import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** How far inside an address is, from where everybody is to this machine alone. */
const scopes = ['public', 'private', 'link-local', 'loopback'] as const;
export type AddressScope = (typeof scopes)[number];

const ranges: readonly (readonly [AddressScope, string])[] = [
  ['loopback', '127.0.0.0/8'],
  ['loopback', '0.0.0.0/8'],
  ['loopback', '::/127'],
  ['link-local', '169.254.0.0/16'],
  ['link-local', 'fe80::/10'],
  // Where clouds answer with the secrets of the machine.
  ['link-local', 'fd00:ec2::254/128'],
  ['private', '10.0.0.0/8'],
  ['private', '172.16.0.0/12'],
  ['private', '192.168.0.0/16'],
  ['private', '100.64.0.0/10'],
  ['private', '192.0.0.0/24'],
  ['private', '198.18.0.0/15'],
  ['private', '224.0.0.0/3'],
  ['private', 'fc00::/7'],
  ['private', 'fec0::/10'],
  ['private', 'ff00::/8'],
];

const lists = ranges.map(([scope, range]) => {
  const [address = '', prefix = '0'] = range.split('/');
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
  return { scope, list };
});

/** IPv6 prefixes that carry an IPv4 address, and where in it: written as pairs of bytes. */
const carriers: readonly (readonly [prefix: readonly number[], at: number])[] = [
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0x64, 0xff9b, 0, 0, 0, 0], 6],
  [[0x2002], 1],
];

/** `address` is an IP address without brackets. */
export function scopeOf(address: string): AddressScope {
  const plain = carriedIpv4(address) ?? address;
  const family = isIPv4(plain) ? 'ipv4' : 'ipv6';
  return lists.find(({ list }) => list.check(plain, family))?.scope ?? 'public';
}

/** A server may send on to where it could have been named itself, or further outside, never further inside. */
export function mayRedirect(from: AddressScope, to: AddressScope): boolean {
  return scopes.indexOf(to) <= scopes.indexOf(from);
}

function carriedIpv4(address: string): string | undefined {
  if (!isIPv6(address)) return undefined;
  const words = wordsOf(address);
  const found = carriers.find(([prefix]) => prefix.every((word, index) => words[index] === word));
  if (!found) return undefined;
  const [high = 0, low = 0] = words.slice(found[1], found[1] + 2);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight numbers of an IPv6 address. */
function wordsOf(address: string): number[] {
  // The URL parser writes every address in one way, without IPv4 notation.
  const normal = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1);
  const [head = '', tail = ''] = normal.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const gap = normal.includes('::') ? new Array<string>(8 - first.length - last.length).fill('0') : [];
  return [...first, ...gap, ...last].map((word) => Number.parseInt(word, 16));
}
