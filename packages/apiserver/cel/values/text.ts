const surrogate = /[\ud800-\udfff]/;
const encoder = new TextEncoder();

/** Length in code points, as CEL and JSON schemas count. */
export function codePointLength(text: string): number {
  if (!surrogate.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The code points of a text; for plain text its code units, which are the same. */
export function codePoints(text: string): ArrayLike<string> & Iterable<string> {
  return surrogate.test(text) ? Array.from(text) : text;
}

/** The part between two code point positions. */
export function codePointSlice(text: string, start: number, end: number): string {
  return surrogate.test(text) ? Array.from(text).slice(start, end).join('') : text.slice(start, end);
}

/** Position in code points of `part` at or after `from`, or -1. */
export function codePointIndexOf(text: string, part: string, from = 0): number {
  if (!surrogate.test(text)) return text.indexOf(part, from);
  const units = Array.from(text).slice(0, from).join('').length;
  const found = text.indexOf(part, units);
  return found < 0 ? -1 : codePointLength(text.slice(0, found));
}

/** Position in code points of the last `part` at or before `from`, or -1. */
export function codePointLastIndexOf(text: string, part: string, from: number): number {
  if (!surrogate.test(text)) return text.lastIndexOf(part, from);
  const units = Array.from(text).slice(0, from).join('').length;
  const found = text.lastIndexOf(part, units);
  return found < 0 ? -1 : codePointLength(text.slice(0, found));
}

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Order by code points (which is also the order of the UTF-8 bytes). */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (!surrogate.test(a) && !surrogate.test(b)) return a < b ? -1 : 1;
  return compareBytes(utf8(a), utf8(b));
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}
