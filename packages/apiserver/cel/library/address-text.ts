/** An IP address: 4 or 16 bytes. */
export interface Address {
  readonly bytes: Uint8Array;
  readonly zone: string;
}

const octet = /^(?:0|[1-9]\d{0,2})$/;

function parseFour(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => octet.test(part) && Number(part) <= 255)) return undefined;
  return Uint8Array.from(parts, Number);
}

/** Reads an address as Go's netip.ParseAddr does; `undefined` if the text is none. */
export function parseAddress(text: string): Address | undefined {
  if (text.length > 200) return undefined;
  if (!text.includes(':')) {
    const bytes = parseFour(text);
    return bytes && { bytes, zone: '' };
  }
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  if (percent >= 0 && zone === '') return undefined;
  const bytes = parseSix(percent < 0 ? text : text.slice(0, percent));
  return bytes && { bytes, zone };
}

function parseSix(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => groupsOf(half));
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255]));
}

function groupsOf(half: string): number[] | undefined {
  if (half === '') return [];
  const groups: number[] = [];
  const parts = half.split(':');
  for (const [index, part] of parts.entries()) {
    const own = groupsOfPart(part, index === parts.length - 1);
    if (!own) return undefined;
    groups.push(...own);
  }
  return groups;
}

function groupsOfPart(part: string, isLast: boolean): number[] | undefined {
  if (/^[0-9a-fA-F]{1,4}$/.test(part)) return [Number.parseInt(part, 16)];
  const four = isLast ? parseFour(part) : undefined;
  const [a = 0, b = 0, c = 0, d = 0] = four ?? [];
  return four && [(a << 8) | b, (c << 8) | d];
}

/** The canonical text (RFC 5952). */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from(
    { length: 8 },
    (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0),
  );
  const [start, length] = longestZeros(groups);
  const texts = groups.map((group) => group.toString(16));
  if (length < 2) return texts.join(':');
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`;
}

function longestZeros(groups: readonly number[]): readonly [number, number] {
  let best: readonly [number, number] = [0, 0];
  let run = 0;
  for (const [index, group] of groups.entries()) {
    run = group === 0 ? run + 1 : 0;
    if (run > best[1]) best = [index - run + 1, run];
  }
  return best;
}

/** Whether an IPv6 address stands for an IPv4 one (`::ffff:1.2.3.4`). */
export function isMapped(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 &&
    bytes.subarray(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 255 &&
    bytes[11] === 255
  );
}

/** An address with all bits behind the first `bits` cleared. */
export function maskAddress(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - index * 8))));
}
