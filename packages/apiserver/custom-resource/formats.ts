import { isIPv4, isIPv6 } from 'node:net';
import { isDate } from './rfc3339.ts';

type FormatTest = (text: string) => boolean;

function matches(pattern: RegExp): FormatTest {
  return (text) => pattern.test(text);
}

/** IPv4 with leading zeros tolerated, which the platform's parser is not. */
function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^0*\d{1,3}$/.test(part) && Number(part) < 256);
}

/** Any IP in the loose reading: also IPv6 forms that end in an IPv4 address. */
function isLooseIpv4(text: string): boolean {
  return text.includes('.') && (isIpv4(text) || (text.includes(':') && isPlainIpv6(text)));
}

function isPlainIpv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const bits = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(bits)) return false;
  const address = text.slice(0, slash);
  if (isIPv4(address) || isIpv4(address)) return Number(bits) <= 32;
  return isPlainIpv6(address) && Number(bits) <= 128;
}

function isFullDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return parts !== null && isDate(Number(parts[1]), Number(parts[2]), Number(parts[3]));
}

const clock = /^(\d{2}):(\d{2}):(\d{2})(?:[^\n]\d+)?(?:z|[+-]\d{2}:\d{2})$/;

function isDateTime(text: string): boolean {
  const [day, rest] = text.toLowerCase().split('t');
  if (day === undefined || rest === undefined || !isFullDate(day)) return false;
  const parts = clock.exec(rest);
  return parts !== null && Number(parts[1]) < 24 && Number(parts[2]) < 60 && Number(parts[3]) < 60;
}

const goDuration = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const durationUnits =
  /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

/** A Go duration, or one in words: "22 ns", "3 days". */
function isDuration(text: string): boolean {
  if (goDuration.test(text)) return true;
  for (const match of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (Number(match[1]) < 2 ** 63 && durationUnits.test(match[2] ?? '')) return true;
  }
  return false;
}

const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;

function isHostname(text: string): boolean {
  if (byteLength(text) > 255) return false;
  return hostname.test(text) && text.split('.').every((label) => byteLength(label) <= 63);
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

function isUri(text: string): boolean {
  if (/[\x00-\x20\x7f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  if (text.startsWith('/')) return true;
  const parts = /^[a-zA-Z][a-zA-Z0-9+.-]*:(.*)$/.exec(text);
  if (parts === null) return false;
  const rest = parts[1] ?? '';
  if (!rest.startsWith('//')) return true;
  const authority = /^\/\/([^/?#]*)/.exec(rest)?.[1] ?? '';
  return /^(?:[^@]*@)?(?:\[[0-9a-fA-F:.%a-zA-Z~_-]+\]|[^:[\]<>"]*)(?::\d*)?$/.test(authority);
}

const atext = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const address = `(?:${atext}(?:\\.${atext})*|"(?:[^"\\\\\\r\\n]|\\\\.)*")@(?:${atext}(?:\\.${atext})*|\\[[^\\[\\]\\\\]*\\])`;
const plainAddress = new RegExp(`^\\s*${address}\\s*$`, 'u');
const namedAddress = new RegExp(`^(?:[^<>@,;:"]*|\\s*"(?:[^"\\\\]|\\\\.)*"\\s*)<${address}>\\s*$`, 'u');

function isEmail(text: string): boolean {
  return text.length <= 4096 && (plainAddress.test(text) || namedAddress.test(text));
}

function isMac(text: string): boolean {
  return (
    /^[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2}){4}(?:(?:\1[0-9a-fA-F]{2}){2}|(?:\1[0-9a-fA-F]{2}){14})?$/.test(
      text,
    ) || /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}(?:\.[0-9a-fA-F]{4}|(?:\.[0-9a-fA-F]{4}){7})?$/.test(text)
  );
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!cardNumber.test(digits)) return false;
  let sum = 0;
  for (let i = digits.length - 1, position = 0; i >= 0; i--, position++) {
    const digit = Number(digits[i]) * (position % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

const channel = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const shortName = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const longName = new RegExp(`^${shortName}(?:\\.${shortName})*$`);

/** Formats that are enforced, by their name without dashes. Others are ignored. */
const formats: ReadonlyMap<string, FormatTest> = new Map<string, FormatTest>([
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['uri', isUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isLooseIpv4],
  ['ipv6', (text) => text.includes(':') && isPlainIpv6(text)],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matches(new RegExp(`^rgb\\(\\s*${channel}\\s*,\\s*${channel}\\s*,\\s*${channel}\\s*\\)$`))],
  ['byte', (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isFullDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && new RegExp(`^${shortName}$`).test(text)],
  ['k8slongname', (text) => text.length <= 253 && longName.test(text)],
]);

/** The check of a string format, or nothing for one that is not enforced. */
export function findFormat(name: string): FormatTest | undefined {
  return formats.get(name.replaceAll('-', ''));
}

/** The names a `format` keyword may have for a type without being ignored. */
export function isEnforcedFormat(type: string, format: string): boolean {
  if (type === 'integer') return format === 'int32' || format === 'int64';
  if (type === 'number') return format === 'float' || format === 'double';
  return (type === 'string' || type === '') && findFormat(format) !== undefined;
}
