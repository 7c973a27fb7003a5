import { Duration, ListValue, MapValue, Optional, Timestamp, Uint, type Value } from './value.ts';

/** What it costs to walk over one character. */
export const traversalFactor = 0.1;
/** What a character of a regular expression costs, for each character of text. */
export const regexFactor = 0.25;
export const listCreateCost = 10;
export const mapCreateCost = 30;
export const structCreateCost = 40;

/**
 * Elements of a list or map, UTF-16 units of a string (upstream counts code points, which is not free), bytes; 1 for
 * anything else.
 */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}

/** The cost of what upstream calls constant but has to count the code points of a text. */
export function countingCost(text: string): number {
  return 1 + Math.floor(text.length / 2000);
}

/** The cost of walking once over a text, times `factor`. */
export function traversal(value: Value, factor = 1): number {
  return Math.ceil(sizeOf(value) * factor * traversalFactor);
}

/** The cost of looking for a regular expression in a text. */
export function regexCost(text: string, pattern: string): number {
  return Math.ceil((1 + text.length) * traversalFactor) * Math.ceil(pattern.length * regexFactor);
}

/** The cost of comparing two values: by the smaller one. */
export function comparisonCost(a: Value, b: Value): number {
  if (isScalar(a) || isScalar(b)) return 1;
  return Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * traversalFactor);
}

function isScalar(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'string';
  return value instanceof Uint || value instanceof Timestamp || value instanceof Duration;
}

/** The cost of visiting all the elements of a list and of what is in them. */
export function listTraversal(list: ListValue): number {
  let cost = 0;
  for (let index = 0; index < list.size; index++) cost += deepTraversal(list.get(index));
  return cost;
}

function deepTraversal(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array)
    return Math.floor(sizeOf(value) * traversalFactor);
  if (value instanceof ListValue) return listTraversal(value);
  if (!(value instanceof MapValue)) return 1;
  let cost = 0;
  for (const key of value.keys()) cost += deepTraversal(key) + deepTraversal(value.find(key) ?? null);
  return cost;
}

/** The cost of comparing all elements of a list with each other, as upstream charges for sorting. */
export function selfCompareCost(size: number, first: Value): number {
  const isText = typeof first === 'string' || first instanceof Uint8Array;
  return Math.floor(size * size * (isText ? 2 + traversalFactor : 2)) + 1 + listCreateCost;
}

/** Elements that upstream does not charge for and that we do not either. */
const freeElements = 100;

/**
 * Units for the elements of lists and maps that a function visits without upstream charging for them, so that no call
 * does much for little. `depth`: how far below the list it looks.
 */
export function hiddenCost(list: ListValue, depth: number): number {
  return Math.max(0, countElements(list, depth) - freeElements);
}

function countElements(value: Value, depth: number): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / 100);
  if (depth < 0 || !(value instanceof ListValue || value instanceof MapValue)) return 1;
  if (value instanceof MapValue) return countEntries(value, depth);
  let count = 1;
  for (let index = 0; index < value.size; index++) count += countElements(value.get(index), depth - 1);
  return count;
}

function countEntries(map: MapValue, depth: number): number {
  let count = 1;
  for (const key of map.keys()) count += 1 + countElements(map.find(key) ?? null, depth - 1);
  return count;
}
