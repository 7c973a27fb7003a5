import { setTimeout as pass } from 'node:timers/promises';

/** How something is now: a line to show, and whether it is over. */
export interface Step {
  readonly line: string;
  readonly outcome?: 'done' | 'failed';
}

export interface WaitOptions {
  readonly timeoutSeconds: number;
  /** What to do when it takes too long. */
  readonly wayOut: string;
  /** For people; programs read the standard output. */
  readonly show?: (line: string) => void;
  readonly everyMs?: number;
}

/** Looks again and again, shows what has changed, and ends with the outcome. @throws Error after the time */
export async function waitFor(look: () => Promise<Step>, options: WaitOptions): Promise<Step> {
  const { timeoutSeconds, wayOut, show = showLine, everyMs = 500 } = options;
  const end = performance.now() + timeoutSeconds * 1000;
  let shown = '';
  for (;;) {
    const step = await look();
    if (step.line !== shown) show(step.line);
    shown = step.line;
    if (step.outcome) return step;
    if (performance.now() > end)
      throw new Error(`it has taken more than ${timeoutSeconds} s (${step.line}). ${wayOut}`);
    await pass(everyMs);
  }
}

export function showLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
