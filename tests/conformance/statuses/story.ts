import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonObject } from '@sheaf/base';
import { parse } from 'yaml';

/** What a node would make of pods: nothing runs here, neither beside the original nor beside us. */
export interface PodChange {
  /** Beginning of their names. */
  readonly of: string;
  /** The phase that they are in; `Pending` if absent. */
  readonly from?: string;
  readonly to: 'ready' | 'unready' | 'succeeded' | 'failed';
  /** The oldest of them; all if absent. */
  readonly count?: number;
  readonly exitCode?: number;
  /** Further fields of their status. */
  readonly status?: JsonObject;
}

/** One thing that happens; then the controllers get `seconds`, and a picture is taken. */
export interface Step {
  readonly title: string;
  readonly create?: readonly { readonly kind: string; readonly object: JsonObject }[];
  readonly patch?: { readonly kind: string; readonly name: string; readonly body: JsonObject };
  readonly delete?: {
    readonly kind: string;
    readonly name: string;
    readonly propagation?: 'Background' | 'Orphan';
  };
  readonly pods?: readonly PodChange[];
  /** Waits for this second of a minute first. */
  readonly atSecond?: number;
  readonly seconds?: number;
}

export interface Story {
  readonly name: string;
  readonly about: string;
  readonly steps: readonly Step[];
}

const directory = join(import.meta.dirname, 'stories');

/** All stories, or those of these names, by name. */
export async function readStories(names: readonly string[] = []): Promise<readonly Story[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).toSorted();
  const wanted = files.filter((file) => names.length === 0 || names.includes(basename(file, '.yaml')));
  return Promise.all(
    wanted.map(async (file) => {
      const text = await readFile(join(directory, file), 'utf8');
      return { ...(parse(text, { merge: true }) as Omit<Story, 'name'>), name: basename(file, '.yaml') };
    }),
  );
}
