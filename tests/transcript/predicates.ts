import { isDeepStrictEqual } from 'node:util';

/** What a value at a path must be: a pattern (`~regex`), a test, nothing (null), or else an equal value. */
export type Predicate =
  | { readonly exists: boolean }
  | { readonly length: number }
  | { readonly contains: unknown }
  | { readonly atLeast: number }
  | { readonly equals: unknown }
  | string
  | number
  | boolean
  | null;

/** Path (`spec.containers[0].image`, `metadata.labels[a/b]`) to predicate. */
export type Predicates = Readonly<Record<string, Predicate>>;

/** The predicates that do not hold, in words; empty if all do. */
export function failedPredicates(value: unknown, predicates: Predicates): readonly string[] {
  return Object.entries(predicates).flatMap(([path, predicate]) => {
    const actual = valueAt(value, path);
    return holds(actual, predicate)
      ? []
      : [`${path} is ${JSON.stringify(actual)}, expected ${JSON.stringify(predicate)}`];
  });
}

export function valueAt(value: unknown, path: string): unknown {
  let current = value;
  for (const [, plain, bracketed] of path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[plain ?? bracketed ?? ''];
  }
  return current;
}

function holds(actual: unknown, predicate: Predicate): boolean {
  if (predicate === null) return actual === undefined || actual === null;
  if (typeof predicate === 'string' && predicate.startsWith('~'))
    return new RegExp(predicate.slice(1)).test(String(actual));
  if (typeof predicate !== 'object') return actual === predicate;
  return holdsTest(actual, predicate);
}

function holdsTest(actual: unknown, test: Extract<Predicate, object>): boolean {
  if ('exists' in test) return (actual !== undefined && actual !== null) === test.exists;
  if ('length' in test) return lengthOf(actual) === test.length;
  if ('atLeast' in test) return Number(actual) >= test.atLeast;
  if ('equals' in test) return isDeepStrictEqual(actual, test.equals);
  return (
    Array.isArray(actual) &&
    actual.some((item) => isDeepStrictEqual(item, test.contains) || item === test.contains)
  );
}

function lengthOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
