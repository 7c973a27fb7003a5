import { again, done, type ReconcileResult } from '@sheaf/runtime';

/** Nothing is left to do before the first of these times, in milliseconds from now. */
export function recheck(...waits: readonly (number | undefined)[]): ReconcileResult {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? done : again(Math.min(...known));
}
