import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';

/** One request, and what of its answer counts. All texts may hold `${name}` (a saved value) and `${a*1000}` (a repetition). */
export interface Exchange {
  /** Unique in its theme; names the pair in recordings and in the list of deliberate differences. */
  readonly title: string;
  /** Section of the specification, where it is not the theme's. */
  readonly section?: string;
  /** e.g. `GET /api/v1/pods?limit=1`. */
  readonly send?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Short for an Accept header: json yaml protobuf table metadata metadata-list discovery; anything else is taken as it is. */
  readonly accept?: string;
  /** An object is written as JSON, unless `as` says otherwise; a text goes as it is. */
  readonly body?: unknown;
  readonly as?: 'json' | 'yaml' | 'protobuf';
  /** Content-Type, or short for one: merge json-patch strategic apply. Default: that of `as`; `none`: no header. */
  readonly type?: string;
  /** `name` or `name/group,group`: impersonated; `anonymous`: without a certificate; `token:TEXT`: without one, with a bearer token. */
  readonly user?: string;
  readonly protocol?: 'h2';
  /** Values of the answer kept for later requests, by a path such as `metadata.resourceVersion`. */
  readonly save?: Readonly<Record<string, string>>;
  /** Opens a watch in the background under this name; its head is the answer. */
  readonly open?: string;
  /** Waits for `events` events of the watch of this name; they are the answer. */
  readonly collect?: string;
  readonly events?: number;
  /** Sends the request again until the answer has this value at this path (at most ten seconds), e.g. `{path: status.phase, value: Active}`. */
  readonly until?: { readonly path: string; readonly value: unknown };
  /** Compares only these parts of the body. */
  readonly pick?: readonly string[];
  /** Leaves these parts of the body out. */
  readonly leave?: readonly string[];
  /** Only the status code counts: the body is random or large and another pair shows it. */
  readonly statusOnly?: boolean;
}

export interface Theme {
  readonly name: string;
  readonly about: string;
  readonly section: string;
  /** Requests that prepare; their answers must be below 300 and are not compared. */
  readonly setup: readonly Exchange[];
  readonly exchanges: readonly Exchange[];
}

const themesDirectory = join(import.meta.dirname, 'themes');

/** Reads all themes, or those whose names are given, in the order of their names. */
export async function readThemes(names: readonly string[] = []): Promise<readonly Theme[]> {
  const files = (await readdir(themesDirectory)).filter((file) => file.endsWith('.yaml')).sort();
  const wanted = names.length === 0 ? files : files.filter((file) => names.includes(basename(file, '.yaml')));
  return Promise.all(wanted.map(readTheme));
}

async function readTheme(file: string): Promise<Theme> {
  const parsed = parse(await readFile(join(themesDirectory, file), 'utf8'), { merge: true }) as Omit<
    Theme,
    'name'
  >;
  const titles = new Set<string>();
  for (const { title } of parsed.exchanges) {
    if (titles.has(title)) throw new Error(`${file}: two pairs are called "${title}"`);
    titles.add(title);
  }
  return { ...parsed, setup: parsed.setup ?? [], name: basename(file, '.yaml') };
}

/** Puts saved values and repetitions into texts, however deep. */
export function filled(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return filledText(value, values);
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [filledText(key, values), filled(item, values)]),
  );
}

export function filledText(text: string, values: ReadonlyMap<string, string>): string {
  if (!text.includes('${')) return text;
  return text.replace(/\$\{((?:\{[^{}]*\}|[^{}])+)\}/g, (_whole, name: string) => {
    const star = name.lastIndexOf('*');
    if (star >= 0) return name.slice(0, star).repeat(Number(name.slice(star + 1)));
    const value = values.get(name);
    if (value === undefined) throw new Error(`nothing has been saved as ${name}`);
    return value;
  });
}

/** The value at a path such as `metadata.name`, `items.0.spec` or `resources[name=pods].verbs`. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path.match(/[^.[\]]+(?:\[[^\]]*\])?/g) ?? []) {
    const [, key = '', field, wanted] = /^([^[]+)(?:\[([^=]+)=([^\]]*)\])?$/.exec(step) ?? [];
    found = (found as Record<string, unknown> | undefined)?.[key];
    if (field !== undefined)
      found = (found as Record<string, unknown>[] | undefined)?.find?.((item) => item[field] === wanted);
  }
  return found;
}
