import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Difference } from '../difference.ts';

/** Places in which our controllers say something else on purpose. */
export interface DeliberateStatus {
  readonly story: string;
  /** Titles of steps; absent: all. */
  readonly steps?: readonly string[];
  /** Patterns of places; `*` is anything. */
  readonly places: readonly string[];
  readonly reason: string;
}

export async function readDeliberate(): Promise<readonly DeliberateStatus[]> {
  const text = await readFile(join(import.meta.dirname, 'deliberate.yaml'), 'utf8');
  return (parse(text) as readonly DeliberateStatus[] | null) ?? [];
}

/** The entry that allows a difference. */
export function allowing(
  list: readonly DeliberateStatus[],
  step: { readonly story: string; readonly title: string },
  { place }: Difference,
): DeliberateStatus | undefined {
  return list.find(
    (entry) =>
      (entry.story === step.story || entry.story === '*') &&
      (entry.steps === undefined || entry.steps.includes(step.title)) &&
      entry.places.some((pattern) => matches(pattern, place)),
  );
}

function matches(pattern: string, place: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`).test(place);
}
