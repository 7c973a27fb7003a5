import { type Difference, differencesOf } from '../difference.ts';
import { allowing, type DeliberateStatus } from './deliberate.ts';
import type { Pictured } from './picture.ts';

export interface StepVerdict {
  readonly title: string;
  /** Differences that nobody has allowed. */
  readonly unexpected: readonly Difference[];
  readonly allowedBy: readonly DeliberateStatus[];
}

type Pictures = ReadonlyMap<string, Pictured>;

/** Compares our pictures of a story with those that were recorded, step by step. */
export function judgeStory(
  story: string,
  parts: {
    readonly recorded: Pictures;
    readonly ours: Pictures;
    readonly deliberate: readonly DeliberateStatus[];
  },
): readonly StepVerdict[] {
  return [...parts.ours].map(([title, picture]) => {
    const expected = parts.recorded.get(title);
    if (!expected) throw new Error(`story ${story}: "${title}" has not been recorded`);
    const found = differencesOf(expected, picture).map((difference) => ({
      difference,
      entry: allowing(parts.deliberate, { story, title }, difference),
    }));
    return {
      title,
      unexpected: found.filter(({ entry }) => !entry).map(({ difference }) => difference),
      allowedBy: found.flatMap(({ entry }) => entry ?? []),
    };
  });
}
