import { isIPv4 } from 'node:net';

/** The usable addresses of an IPv4 subnet: all but its first and last. */
export interface Subnet {
  /** e.g. 10.43.0.0/16 */
  readonly text: string;
  readonly size: number;
  addressAt(index: number): string;
  /** `edge`: the first or last address, which nobody may have. */
  placeOf(address: string): 'inside' | 'edge' | 'outside';
}

/** @throws Error for what is not an IPv4 subnet */
export function subnetOf(text: string): Subnet {
  const [address = '', prefix = ''] = text.split('/');
  const bits = Number(prefix);
  if (!isIPv4(address) || !/^\d{1,2}$/.test(prefix) || bits > 30)
    throw new Error(`${text} is not an IPv4 subnet with room for services`);
  const total = 2 ** (32 - bits);
  const first = Math.floor(numberOf(address) / total) * total;
  return {
    text,
    size: total - 2,
    addressAt: (index) => textOf(first + 1 + index),
    placeOf(candidate) {
      const offset = isIPv4(candidate) ? numberOf(candidate) - first : -1;
      if (offset < 0 || offset >= total) return 'outside';
      return offset === 0 || offset === total - 1 ? 'edge' : 'inside';
    },
  };
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
