/** What a request to a kept resource, or to an extension, is about. */
export interface LeanTarget {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly query: URLSearchParams;
}

const ownSubresources = new Set(['status', 'finalize']);
const nothing = new URLSearchParams();

const known = new Map<string, LeanTarget | undefined>();
const knownLimit = 5000;

/** `undefined` for paths that are about no resource. The same targets come again and again. */
export function leanTarget(target: string): LeanTarget | undefined {
  const found = known.get(target);
  if (found) return found;
  if (known.size >= knownLimit) known.clear();
  const read = readTarget(target);
  known.set(target, read);
  return read;
}

function readTarget(target: string): LeanTarget | undefined {
  const [path = '', query] = target.split('?', 2);
  const [, root, ...words] = path.split('/').map(decoded);
  const [group = '', version = '', ...place] = root === 'api' ? ['', ...words] : words;
  if (place.length === 0) return undefined;
  const search = query === undefined ? nothing : new URLSearchParams(query);
  return { group, version, ...placeOf(place), query: search };
}

/** What follows the version. */
function placeOf(words: readonly string[]): Omit<LeanTarget, 'group' | 'version' | 'query'> {
  const [first, inside = '', third = ''] = words;
  const isInside = first === 'namespaces' && words.length > 2 && !ownSubresources.has(third);
  const [plural = '', name = '', ...rest] = isInside ? words.slice(2) : words;
  return { namespace: isInside ? inside : '', plural, name, subresource: rest.join('/') };
}

function decoded(word: string): string {
  return word.includes('%') ? decodeURIComponent(word) : word;
}
