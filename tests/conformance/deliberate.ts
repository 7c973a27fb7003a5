import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Difference } from './difference.ts';

/** Places in which our answer differs on purpose, or because the bare recorded server does less. */
export interface Deliberate {
  readonly theme: string;
  /** Titles of pairs; absent: every pair of the theme. */
  readonly pairs?: readonly string[];
  /** Beginnings of places, e.g. `body.message`. */
  readonly places: readonly string[];
  readonly reason: string;
}

/** Differences that are meant, or, from the other file, those of a server whose controllers run. */
export async function readDeliberate(
  file: 'deliberate.yaml' | 'with-controllers.yaml' = 'deliberate.yaml',
): Promise<readonly Deliberate[]> {
  const text = await readFile(join(import.meta.dirname, file), 'utf8');
  return (parse(text) as readonly Deliberate[] | null) ?? [];
}

/** The entry that allows a difference. */
export function allowing(
  list: readonly Deliberate[],
  pair: { readonly theme: string; readonly title: string },
  { place }: Difference,
): Deliberate | undefined {
  return list.find(
    (entry) =>
      entry.theme === pair.theme &&
      (entry.pairs === undefined || entry.pairs.includes(pair.title)) &&
      entry.places.some((begin) => place === begin || place.startsWith(`${begin}.`)),
  );
}
