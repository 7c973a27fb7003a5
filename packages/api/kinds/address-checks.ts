import { invalid } from '../meta/field-error.ts';
import type { Errors } from './checks.ts';

export const ipDetail = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
export const cidrDetail = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** 4, 6, or 0 for what is no address. Zones are not allowed. */
export function ipFamily(text: string): 0 | 4 | 6 {
  if (!text.includes(':')) return isIpv4(text) ? 4 : 0;
  return isIpv6(text) ? 6 : 0;
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** Eight groups, or fewer around one `::`; the last two may be written as IPv4. */
function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const [head = '', rest, ...more] = text.split('::');
  if (more.length > 0) return false;
  const left = groupCount(head, rest === undefined);
  if (rest === undefined) return left === 8;
  const right = groupCount(rest, true);
  return left >= 0 && right >= 0 && left + right < 8;
}

/** How many groups a part stands for; far below zero for what is none. */
function groupCount(text: string, mayEndInIpv4: boolean): number {
  if (text === '') return 0;
  const groups = text.split(':');
  const last = groups.at(-1) ?? '';
  const isMixed = mayEndInIpv4 && last.includes('.');
  const plain = isMixed ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) || (isMixed && !isIpv4(last))) return -100;
  return plain.length + (isMixed ? 2 : 0);
}

export function checkIp(errors: Errors, field: string, text: string): void {
  if (ipFamily(text) === 0) errors.push(invalid(field, text, ipDetail));
}

/** The address and its prefix length; undefined for what is no network. */
export function parseCidr(
  text: string,
): { readonly bits: bigint; readonly length: number; readonly family: 4 | 6 } | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const family = ipFamily(text.slice(0, slash));
  const suffix = text.slice(slash + 1);
  if (family === 0 || !/^(0|[1-9]\d{0,2})$/.test(suffix)) return undefined;
  const length = Number(suffix);
  const width = family === 4 ? 32 : 128;
  if (length > width) return undefined;
  const shift = BigInt(width - length);
  return { bits: (addressBits(text.slice(0, slash), family) >> shift) << shift, length, family };
}

function addressBits(text: string, family: 4 | 6): bigint {
  return family === 4 ? ipv4Bits(text) : ipv6Bits(text);
}

function ipv4Bits(text: string): bigint {
  return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function ipv6Bits(text: string): bigint {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const embedded = tail === null ? undefined : ipv4Bits(tail[2] ?? '');
  const plain =
    embedded === undefined
      ? text
      : `${tail?.[1]}${(embedded >> 16n).toString(16)}:${(embedded & 0xffffn).toString(16)}`;
  const [head = '', rest] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = rest === undefined || rest === '' ? [] : rest.split(':');
  const zeros: string[] =
    rest === undefined ? [] : new Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].reduce((bits, part) => (bits << 16n) | BigInt(`0x${part}`), 0n);
}

export function checkCidr(errors: Errors, field: string, text: string): void {
  if (parseCidr(text) === undefined) errors.push(invalid(field, text, cidrDetail));
}

const notRoutable: readonly (readonly [network: string, detail: string])[] = [
  ['127.0.0.0/8', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['::1/128', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['169.254.0.0/16', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['fe80::/10', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['224.0.0.0/24', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ['ff02::/16', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** Addresses that services and endpoints must not lead to. */
export function checkRoutable(errors: Errors, field: string, text: string): void {
  if (ipFamily(text) === 0) {
    errors.push(invalid(field, text, 'must be a valid IP address'));
    return;
  }
  if (text === '0.0.0.0' || text === '::')
    errors.push(invalid(field, text, `may not be unspecified (${text})`));
  for (const [network, detail] of notRoutable)
    if (isInside(text, network)) errors.push(invalid(field, text, detail));
}

function isInside(address: string, network: string): boolean {
  const outer = parseCidr(network);
  const inner = parseCidr(`${address}/${outer?.length ?? 0}`);
  return (
    inner !== undefined && outer !== undefined && inner.family === outer.family && inner.bits === outer.bits
  );
}

/** True when `inner` lies in `outer` and is smaller. */
export function isStrictSubnet(inner: string, outer: string): boolean {
  const [small, large] = [parseCidr(inner), parseCidr(outer)];
  if (small === undefined || large === undefined || small.family !== large.family) return false;
  const shift = BigInt((large.family === 4 ? 32 : 128) - large.length);
  return small.length > large.length && (small.bits >> shift) << shift === large.bits;
}
