import type { TestClock } from './test-clock.ts';

export interface SettleOptions {
  readonly clock: TestClock;
  /** Ends as soon as this is true. */
  readonly until: () => boolean | Promise<boolean>;
  /** Owned time that may pass, in milliseconds; 60 s if absent. */
  readonly limitMs?: number;
}

/** Lets everything run, and time pass where nothing else is left to do, until a claim is true. @throws Error at the limit */
export async function settle({ clock, until, limitMs = 60_000 }: SettleOptions): Promise<void> {
  const end = clock.monotonic() + limitMs;
  for (;;) {
    await allTasks();
    if (await until()) return;
    const due = clock.nextDueMs;
    if (due === undefined || clock.monotonic() + due > end)
      throw new Error(`this did not become true in ${limitMs} ms: ${until.toString()}`);
    clock.advance(due);
  }
}

/** Resolves when nothing is left to do without time passing: all work in this process is made of microtasks. */
export async function allTasks(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
