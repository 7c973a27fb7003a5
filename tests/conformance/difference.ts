import type { Answer } from './answer.ts';

/** One place where two answers are not the same. */
export interface Difference {
  /** `status`, `headers.warning`, `body.details.causes.0.message`. */
  readonly place: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Everything in which `actual` is not `expected`. A status that differs is told with the messages of both. */
export function differences(expected: Answer, actual: Answer): readonly Difference[] {
  return differencesOf(expected, actual);
}

/** Everything in which a value is not another one. */
export function differencesOf(expected: unknown, actual: unknown): readonly Difference[] {
  const found: Difference[] = [];
  compare(expected, actual, '', found);
  return found;
}

function compare(expected: unknown, actual: unknown, place: string, found: Difference[]): void {
  if (expected === actual) return;
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    found.push({ place: place.slice(1), expected, actual });
    return;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  for (const key of keys) compare(expected[key], actual[key], `${place}.${key}`, found);
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
