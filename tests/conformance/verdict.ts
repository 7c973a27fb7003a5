import { allowing, type Deliberate } from './deliberate.ts';
import { type Difference, differences } from './difference.ts';
import type { Answers } from './play.ts';

export interface PairVerdict {
  readonly title: string;
  /** Differences that nobody has allowed. */
  readonly unexpected: readonly Difference[];
  /** Entries of the list of deliberate differences that were needed. */
  readonly allowedBy: readonly Deliberate[];
}

/** Answers of another status differ in everything; then the messages say it all. */
export function briefly(found: readonly Difference[]): readonly Difference[] {
  const isOther = found.some(({ place }) => place === 'status');
  const telling = new Set(['status', 'body', 'body.message', 'body.reason', 'body.kind']);
  return isOther ? found.filter(({ place }) => telling.has(place)) : found;
}

/** Compares what we have answered with what was recorded, pair by pair. */
export function judge(
  theme: string,
  { recorded, ours, deliberate }: { recorded: Answers; ours: Answers; deliberate: readonly Deliberate[] },
): readonly PairVerdict[] {
  const verdicts: PairVerdict[] = [];
  for (const [title, answer] of ours) {
    const expected = recorded.get(title);
    if (!expected) throw new Error(`theme ${theme}: "${title}" has not been recorded`);
    const unexpected: Difference[] = [];
    const allowedBy = new Set<Deliberate>();
    for (const difference of differences(expected, answer)) {
      const entry = allowing(deliberate, { theme, title }, difference);
      if (entry) allowedBy.add(entry);
      else unexpected.push(difference);
    }
    verdicts.push({ title, unexpected, allowedBy: [...allowedBy] });
  }
  return verdicts;
}

/** Each pair with unexpected differences, as text. */
export function tellUnexpected(verdicts: readonly PairVerdict[]): readonly string[] {
  return verdicts
    .filter(({ unexpected }) => unexpected.length > 0)
    .map(({ title, unexpected }) =>
      [`"${title}"`, ...briefly(unexpected).map((one) => `  ${describeDifference(one)}`)].join('\n'),
    );
}

export function describeDifference({ place, expected, actual }: Difference): string {
  return `${place}\n    real: ${shown(expected)}\n    ours: ${shown(actual)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
