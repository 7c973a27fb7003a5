import type { Route } from '@sheaf/api';

export interface RouteMatch {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Word {
  readonly kind: 'literal' | 'parameter' | 'rest';
  /** The word itself, or the name of the parameter. */
  readonly text: string;
}

interface Entry {
  readonly route: Route;
  readonly words: readonly Word[];
}

/** Finds the route of a request: the one with the most literal words from the left, then the one for its action. */
export class RouteTable {
  readonly #entries: readonly Entry[];

  constructor(routes: readonly Route[]) {
    this.#entries = routes.map((route) => ({ route, words: wordsOf(route.path) })).sort(byPrecision);
  }

  find(method: string, path: string, action: string | null): RouteMatch | undefined {
    if (this.#entries.length === 0) return undefined;
    const parts = path.split('/').slice(1);
    for (const { route, words } of this.#entries) {
      if (route.method !== method || (route.action !== undefined && route.action !== action)) continue;
      const parameters = matched(words, parts);
      if (parameters) return { route, parameters };
    }
    return undefined;
  }
}

function wordsOf(path: string): Word[] {
  return path
    .split('/')
    .slice(1)
    .map((text): Word => {
      const name = /^\{([^{}]+?)(\.\.\.)?\}$/.exec(text);
      if (!name) return { kind: 'literal', text };
      return { kind: name[2] ? 'rest' : 'parameter', text: name[1] ?? '' };
    });
}

const ranks = { literal: '0', parameter: '1', rest: '2' } as const;

function byPrecision(a: Entry, b: Entry): number {
  const [left, right] = [a, b].map(
    ({ route, words }) =>
      `${words.map(({ kind }) => ranks[kind]).join('')}3${route.action === undefined ? 1 : 0}`,
  );
  return (left ?? '') < (right ?? '') ? -1 : left === right ? 0 : 1;
}

function matched(words: readonly Word[], parts: readonly string[]): Record<string, string> | undefined {
  const hasRest = words.at(-1)?.kind === 'rest';
  if (hasRest ? parts.length < words.length : parts.length !== words.length) return undefined;
  const parameters = Object.create(null) as Record<string, string>;
  for (const [index, word] of words.entries()) {
    const given = word.kind === 'rest' ? parts.slice(index).join('/') : (parts[index] ?? '');
    const value = decoded(given);
    if (!fits(word, value)) return undefined;
    if (word.kind !== 'literal') parameters[word.text] = value;
  }
  return parameters;
}

/** A parameter is never empty. */
function fits({ kind, text }: Word, value: string | undefined): value is string {
  return kind === 'literal' ? value === text : value !== undefined && value !== '';
}

/** What is not valid percent-encoding is no route. */
function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
