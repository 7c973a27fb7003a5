import { boolType, listOf, mapOf, opaqueType, stringType } from '../checker/type.ts';
import { traversal } from '../values/cost.ts';
import { failure } from '../values/failure.ts';
import { ArrayList, EntryMap, type MapValue, Opaque } from '../values/value.ts';
import { method, type Overload, plain } from './overload.ts';
import { hostname, parseQuery, parseRequestUri, port, type UrlParts } from './url-text.ts';

const name = 'kubernetes.URL';

export class Url extends Opaque {
  readonly type = name;
  readonly text: string;
  readonly parts: UrlParts;
  constructor(text: string, parts: UrlParts) {
    super();
    this.text = text;
    this.parts = parts;
  }
  equals(other: Opaque): boolean {
    return other instanceof Url && other.text === this.text;
  }
}

export const urlType = opaqueType<Url>(name);

function toUrl(text: string): Url {
  const parts = parseRequestUri(text);
  if ('reason' in parts) throw failure(`URL parse error during conversion from string: ${parts.reason}`);
  return new Url(text, parts);
}

function queryOf(url: Url): MapValue {
  const map = new EntryMap();
  for (const [key, values] of parseQuery(url.parts.rawQuery)) map.set(key, new ArrayList(values));
  return map;
}

function part(read: (parts: UrlParts) => string): Overload[] {
  return [method({ params: [urlType], result: stringType, call: (url) => read(url.parts) })];
}

/** `url()` and its parts. */
export const urlLibrary: Readonly<Record<string, readonly Overload[]>> = {
  url: [plain({ params: [stringType], result: urlType, call: toUrl, cost: (text) => traversal(text) })],
  isURL: [
    plain({
      params: [stringType],
      result: boolType,
      call: (text) => !('reason' in parseRequestUri(text)),
      cost: (text) => 1 + Math.floor(text.length / 100),
    }),
  ],
  getScheme: part((parts) => parts.scheme),
  getHost: part((parts) => parts.host),
  getHostname: part((parts) => hostname(parts.host)),
  getPort: part((parts) => port(parts.host)),
  getEscapedPath: part((parts) => parts.escapedPath),
  getQuery: [
    method({
      params: [urlType],
      result: mapOf(stringType, listOf(stringType)),
      call: queryOf,
      cost: (url) => 1 + Math.floor(url.parts.rawQuery.length / 100),
    }),
  ],
};
