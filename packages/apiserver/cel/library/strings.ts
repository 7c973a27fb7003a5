import { dynType, intType, listOf, stringType } from '../checker/type.ts';
import { countingCost, hiddenCost, sizeOf, traversal, traversalFactor } from '../values/cost.ts';
import { failure } from '../values/failure.ts';
import {
  codePointIndexOf,
  codePointLastIndexOf,
  codePointLength,
  codePointSlice,
  codePoints,
} from '../values/text.ts';
import { ArrayList, type ListValue } from '../values/value.ts';
import { formatText, showValue } from './format-text.ts';
import { method, type Overload, plain } from './overload.ts';

const textList = listOf(stringType);

function outOfRange(index: bigint): Error {
  return failure(`index out of range: ${index}`);
}

function charAt(text: string, index: bigint): string {
  const points = codePoints(text);
  if (index < 0n || index > BigInt(points.length)) throw outOfRange(index);
  return points[Number(index)] ?? '';
}

function indexOf(text: string, part: string, offset: bigint): bigint {
  if (part === '') return offset;
  if (offset < 0n) throw outOfRange(offset);
  if (offset >= BigInt(codePointLength(text))) return -1n;
  return BigInt(codePointIndexOf(text, part, Number(offset)));
}

function lastIndexOf(text: string, part: string): bigint {
  const length = codePointLength(text);
  if (part === '') return BigInt(length);
  return BigInt(codePointLastIndexOf(text, part, length));
}

function lastIndexOfFrom(text: string, part: string, offset: bigint): bigint {
  if (part === '') return offset;
  if (offset < 0n) throw outOfRange(offset);
  if (offset >= BigInt(codePointLength(text))) return -1n;
  return BigInt(codePointLastIndexOf(text, part, Number(offset)));
}

function substring(text: string, start: bigint, end: bigint | undefined): string {
  const length = codePointLength(text);
  const stop = end ?? BigInt(length);
  if (end !== undefined && start > end)
    throw failure(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0n || start > BigInt(length)) throw outOfRange(start);
  if (stop < 0n || stop > BigInt(length)) throw outOfRange(stop);
  return codePointSlice(text, Number(start), Number(stop));
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
}

function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (part) => part.toUpperCase());
}

/** White space as Go's TrimSpace sees it: not the byte order mark, but NEL. */
function trim(text: string): string {
  return text.replace(
    /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g,
    '',
  );
}

function replaceFirst(text: string, old: string, counted: readonly [string, bigint]): string {
  const [fresh, count] = counted;
  if (count === 0n || old === fresh) return text;
  const limit = count < 0n ? Number.MAX_SAFE_INTEGER : Number(count);
  return old === '' ? replaceEmpty(text, fresh, limit) : replaceParts(text, old, { fresh, limit });
}

function replaceEmpty(text: string, fresh: string, limit: number): string {
  const pieces: string[] = [];
  let left = limit;
  for (const point of text) {
    if (left > 0) pieces.push(fresh);
    pieces.push(point);
    left -= 1;
  }
  if (left > 0) pieces.push(fresh);
  return pieces.join('');
}

function replaceParts(text: string, old: string, options: { fresh: string; limit: number }): string {
  const pieces: string[] = [];
  let position = 0;
  for (let count = 0; count < options.limit; count++) {
    const found = text.indexOf(old, position);
    if (found < 0) break;
    pieces.push(text.slice(position, found), options.fresh);
    position = found + old.length;
  }
  pieces.push(text.slice(position));
  return pieces.join('');
}

function split(text: string, separator: string, count: bigint): ListValue {
  if (count === 0n) return new ArrayList([]);
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  const limit = count < 0n ? parts.length : Number(count);
  if (parts.length <= limit) return new ArrayList(parts);
  const head = parts.slice(0, limit - 1);
  return new ArrayList([...head, parts.slice(limit - 1).join(separator)]);
}

function join(list: ListValue, separator: string): string {
  const parts: string[] = [];
  for (let index = 0; index < list.size; index++) {
    const part = list.get(index);
    if (typeof part !== 'string') throw failure(`join: invalid input: ${showValue(part)}`);
    parts.push(part);
  }
  return parts.join(separator);
}

function joinCost(list: ListValue, separator = ''): number {
  let size = 0;
  for (let index = 0; index < list.size; index++) size += sizeOf(list.get(index)) + separator.length;
  return list.size === 0 ? 0 : Math.ceil((size - separator.length) * 2 * traversalFactor);
}

const quotes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(text: string): string {
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => quotes[char] ?? char)}"`;
}

function once(text: string): number {
  return traversal(text);
}

/** Upstream rounds searches down. */
function search(text: string): number {
  return Math.floor(text.length * traversalFactor);
}

function twice(text: string): number {
  return traversal(text, 2);
}

/** The strings extension, version 2 (without `reverse`). */
export const stringLibrary: Readonly<Record<string, readonly Overload[]>> = {
  charAt: [
    method({
      params: [stringType, intType],
      result: stringType,
      call: charAt,
      cost: (text) => countingCost(text),
    }),
  ],
  indexOf: [
    method({
      params: [stringType, stringType],
      result: intType,
      call: (a, b) => indexOf(a, b, 0n),
      cost: search,
    }),
    method({
      params: [stringType, stringType, intType],
      result: intType,
      call: (a, b, from) => indexOf(a, b, from),
      cost: search,
    }),
  ],
  lastIndexOf: [
    method({
      params: [stringType, stringType],
      result: intType,
      call: (a, b) => lastIndexOf(a, b),
      cost: search,
    }),
    method({
      params: [stringType, stringType, intType],
      result: intType,
      call: (a, b, from) => lastIndexOfFrom(a, b, from),
      cost: search,
    }),
  ],
  lowerAscii: [method({ params: [stringType], result: stringType, call: lowerAscii, cost: once })],
  upperAscii: [method({ params: [stringType], result: stringType, call: upperAscii, cost: once })],
  replace: [
    method({
      params: [stringType, stringType, stringType],
      result: stringType,
      call: (text, old, fresh) => replaceFirst(text, old, [fresh, -1n]),
      cost: replaceCost,
    }),
    method({
      params: [stringType, stringType, stringType, intType],
      result: stringType,
      call: (...args) => replaceFirst(args[0], args[1], [args[2], args[3]]),
      cost: replaceCost,
    }),
  ],
  split: [
    method({
      params: [stringType, stringType],
      result: textList,
      call: (text, separator) => split(text, separator, -1n),
      cost: twice,
    }),
    method({ params: [stringType, stringType, intType], result: textList, call: split, cost: twice }),
  ],
  substring: [
    method({
      params: [stringType, intType],
      result: stringType,
      call: (text, start) => substring(text, start, undefined),
      cost: once,
    }),
    method({ params: [stringType, intType, intType], result: stringType, call: substring, cost: once }),
  ],
  trim: [method({ params: [stringType], result: stringType, call: trim, cost: once })],
  format: [
    method({
      params: [stringType, listOf(dynType)],
      result: stringType,
      call: formatText,
      cost: (text, args) => traversal(text) + hiddenCost(args, 100),
    }),
  ],
  'strings.quote': [plain({ params: [stringType], result: stringType, call: quote, cost: once })],
  join: [
    method({
      params: [textList],
      result: stringType,
      call: (list) => join(list, ''),
      cost: (list) => joinCost(list),
    }),
    method({
      params: [textList, stringType],
      result: stringType,
      call: (list, separator) => join(list, separator),
      cost: joinCost,
    }),
  ],
};

/** Upstream charges for the text alone; where a result may be far longer, for that as well. */
function replaceCost(text: string, old: string, fresh: string): number {
  const grown = (text.length / Math.max(1, old.length)) * Math.max(0, fresh.length - old.length);
  return traversal(text, 2) + Math.floor(grown / 1000);
}
