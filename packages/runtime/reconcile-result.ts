/** What a pass over one key came to. A wanted wait is a result, not an error. */
export type ReconcileResult =
  | { readonly outcome: 'done' }
  /** Look again after this many milliseconds. */
  | { readonly outcome: 'again'; readonly afterMs: number }
  /** Something else must happen first; its watch wakes us, or the time does. The reason is for logs; users read the condition. */
  | { readonly outcome: 'waiting'; readonly reason: string; readonly afterMs: number | undefined };

export const done: ReconcileResult = { outcome: 'done' };

export function again(afterMs: number): ReconcileResult {
  return { outcome: 'again', afterMs };
}

export function waitFor(reason: string, afterMs?: number): ReconcileResult {
  return { outcome: 'waiting', reason, afterMs };
}

/** Trying again is of no use until the object's spec changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}
