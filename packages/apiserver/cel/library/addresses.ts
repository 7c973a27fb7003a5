import { boolType, intType, opaqueType, stringType } from '../checker/type.ts';
import { sizeOf, traversal, traversalFactor } from '../values/cost.ts';
import { failure, noSuchOverload } from '../values/failure.ts';
import { compareBytes } from '../values/text.ts';
import { Opaque } from '../values/value.ts';
import { type Address, formatAddress, isMapped, maskAddress, parseAddress } from './address-text.ts';
import { method, type Overload, plain } from './overload.ts';

export class Ip extends Opaque {
  readonly type = 'net.IP';
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
  }
  equals(other: Opaque): boolean {
    return other instanceof Ip && compareBytes(this.bytes, other.bytes) === 0;
  }
}

export class Cidr extends Opaque {
  readonly type = 'net.CIDR';
  readonly bytes: Uint8Array;
  readonly bits: number;
  constructor(bytes: Uint8Array, bits: number) {
    super();
    this.bytes = bytes;
    this.bits = bits;
  }
  equals(other: Opaque): boolean {
    return other instanceof Cidr && this.bits === other.bits && compareBytes(this.bytes, other.bytes) === 0;
  }
}

export const ipType = opaqueType<Ip>('net.IP');
export const cidrType = opaqueType<Cidr>('net.CIDR');

/** An IP, or the text that says why it is none. */
function readIp(text: string): Ip | string {
  const quoted = JSON.stringify(text);
  const address = parseAddress(text);
  if (!address)
    return `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`;
  if (address.zone !== '') return `IP address ${quoted} with zone value is not allowed`;
  if (isMapped(address.bytes)) return `IPv4-mapped IPv6 address ${quoted} is not allowed`;
  return new Ip(address.bytes);
}

function toIp(text: string): Ip {
  const ip = readIp(text);
  if (typeof ip === 'string') throw failure(ip);
  return ip;
}

function prefixProblem(address: Address | undefined, bits: string): string | undefined {
  if (!address) return 'unable to parse IP';
  if (address.zone !== '') return 'IPv6 zones cannot be present in a prefix';
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return `bad bits after slash: ${JSON.stringify(bits)}`;
  return Number(bits) > address.bytes.length * 8 ? 'prefix length out of range' : undefined;
}

function readCidr(text: string): Cidr | string {
  const quoted = JSON.stringify(text);
  const prefix = 'network address parse error during conversion from string';
  const slash = text.lastIndexOf('/');
  const address = slash < 0 ? undefined : parseAddress(text.slice(0, slash));
  const bitsText = text.slice(slash + 1);
  const reason = slash < 0 ? "no '/'" : prefixProblem(address, bitsText);
  if (!address || reason !== undefined) return `${prefix}: netip.ParsePrefix(${quoted}): ${reason}`;
  if (isMapped(address.bytes)) return `IPv4-mapped IPv6 address ${quoted} is not allowed`;
  return new Cidr(address.bytes, Number(bitsText));
}

function toCidr(text: string): Cidr {
  const cidr = readCidr(text);
  if (typeof cidr === 'string')
    throw failure(`network address parse error during conversion from string: ${cidr}`);
  return cidr;
}

/** Upstream has no better words for a text that is no address in these calls. */
function known<T>(value: T | string): T {
  if (typeof value === 'string') throw noSuchOverload();
  return value;
}

function containsIp(cidr: Cidr, ip: Ip): boolean {
  if (cidr.bytes.length !== ip.bytes.length) return false;
  return compareBytes(maskAddress(cidr.bytes, cidr.bits), maskAddress(ip.bytes, cidr.bits)) === 0;
}

function containsCidr(cidr: Cidr, inner: Cidr): boolean {
  return cidr.bits <= inner.bits && containsIp(cidr, new Ip(inner.bytes));
}

function first(ip: Ip): number {
  return ip.bytes[0] ?? 0;
}

function secondByte(ip: Ip): number {
  return ip.bytes[1] ?? 0;
}

function isFour(ip: Ip): boolean {
  return ip.bytes.length === 4;
}

function isLoopback(ip: Ip): boolean {
  return isFour(ip) ? first(ip) === 127 : formatAddress(ip.bytes) === '::1';
}

function isUnspecified(ip: Ip): boolean {
  return ip.bytes.every((byte) => byte === 0);
}

function isLinkLocalMulticast(ip: Ip): boolean {
  if (isFour(ip)) return first(ip) === 224 && secondByte(ip) === 0 && ip.bytes[2] === 0;
  return first(ip) === 0xff && (secondByte(ip) & 0x0f) === 0x02;
}

function isLinkLocalUnicast(ip: Ip): boolean {
  if (isFour(ip)) return first(ip) === 169 && secondByte(ip) === 254;
  return first(ip) === 0xfe && (secondByte(ip) & 0xc0) === 0x80;
}

function isMulticast(ip: Ip): boolean {
  return isFour(ip) ? (first(ip) & 0xf0) === 0xe0 : first(ip) === 0xff;
}

function isGlobalUnicast(ip: Ip): boolean {
  const isBroadcast = isFour(ip) && ip.bytes.every((byte) => byte === 255);
  return !(isBroadcast || isUnspecified(ip) || isLoopback(ip) || isMulticast(ip) || isLinkLocalUnicast(ip));
}

function question(call: (ip: Ip) => boolean): Overload[] {
  return [method({ params: [ipType], result: boolType, call: (ip) => call(ip) })];
}

function once(text: string): number {
  return traversal(text);
}

function containsCost(cidr: Cidr, extra: number, text: string | undefined): number {
  const size = cidr.bits === 0 ? 0 : Math.ceil(cidr.bits / 8);
  const compared = Math.ceil(size * 2 * traversalFactor) + extra;
  return compared + (text === undefined ? 0 : traversal(sizeOf(text) ? text : ''));
}

function maskCost(cidr: Cidr): number {
  return Math.ceil(Math.ceil(cidr.bits / 8) * traversalFactor) + 1;
}

/** `ip()`, `cidr()` and what can be done with them. */
export const addressLibrary: Readonly<Record<string, readonly Overload[]>> = {
  ip: [
    plain({ params: [stringType], result: ipType, call: toIp, cost: once }),
    method({ params: [cidrType], result: ipType, call: (cidr) => new Ip(cidr.bytes) }),
  ],
  isIP: [
    plain({
      params: [stringType],
      result: boolType,
      call: (text) => typeof readIp(text) !== 'string',
      cost: once,
    }),
  ],
  'ip.isCanonical': [
    plain({
      params: [stringType],
      result: boolType,
      call: (text) => formatAddress(toIp(text).bytes) === text,
      cost: (text) => traversal(text, 2),
    }),
  ],
  family: [method({ params: [ipType], result: intType, call: (ip) => (isFour(ip) ? 4n : 6n) })],
  isUnspecified: question(isUnspecified),
  isLoopback: question(isLoopback),
  isLinkLocalMulticast: question(isLinkLocalMulticast),
  isLinkLocalUnicast: question(isLinkLocalUnicast),
  isGlobalUnicast: question(isGlobalUnicast),
  cidr: [plain({ params: [stringType], result: cidrType, call: toCidr, cost: once })],
  isCIDR: [
    plain({
      params: [stringType],
      result: boolType,
      call: (text) => typeof readCidr(text) !== 'string',
      cost: once,
    }),
  ],
  containsIP: [
    method({
      params: [cidrType, stringType],
      result: boolType,
      call: (cidr, text) => containsIp(cidr, known(readIp(text))),
      cost: (cidr, text) => containsCost(cidr, 0, text),
    }),
    method({
      params: [cidrType, ipType],
      result: boolType,
      call: containsIp,
      cost: (cidr) => containsCost(cidr, 0, undefined),
    }),
  ],
  containsCIDR: [
    method({
      params: [cidrType, stringType],
      result: boolType,
      call: (cidr, text) => containsCidr(cidr, known(readCidr(text))),
      cost: (cidr, text) => containsCost(cidr, maskCost(cidr), text),
    }),
    method({
      params: [cidrType, cidrType],
      result: boolType,
      call: containsCidr,
      cost: (cidr) => containsCost(cidr, maskCost(cidr), undefined),
    }),
  ],
  prefixLength: [method({ params: [cidrType], result: intType, call: (cidr) => BigInt(cidr.bits) })],
  masked: [
    method({
      params: [cidrType],
      result: cidrType,
      call: (cidr) => new Cidr(maskAddress(cidr.bytes, cidr.bits), cidr.bits),
    }),
  ],
  string: [
    plain({ params: [ipType], result: stringType, call: (ip) => formatAddress(ip.bytes) }),
    plain({
      params: [cidrType],
      result: stringType,
      call: (cidr) => `${formatAddress(cidr.bytes)}/${cidr.bits}`,
    }),
  ],
};
