/** The parts of a URL as Go's net/url sees them. */
export interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly escapedPath: string;
  readonly rawQuery: string;
}

const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/;
const badEscape = /%(?![0-9a-fA-F]{2})/;
const control = /[\u0000-\u001f\u007f]/;

/** Reads an absolute URI or absolute path, as Go's ParseRequestURI; the reason if the text is none. */
export function parseRequestUri(text: string): UrlParts | { readonly reason: string } {
  const fail = (reason: string): { reason: string } => ({
    reason: `parse ${JSON.stringify(text)}: ${reason}`,
  });
  const problem = textProblem(text);
  if (problem !== undefined) return fail(problem);
  const name = scheme.exec(text)?.[1];
  if (name === undefined && text.startsWith(':')) return fail('missing protocol scheme');
  const rest = name === undefined ? text : text.slice(name.length + 1);
  if (!rest.startsWith('/'))
    return name === undefined ? fail('invalid URI for request') : opaqueUri(name, rest, fail);
  return hierarchical({ scheme: name?.toLowerCase() ?? '', rest, fail });
}

function textProblem(text: string): string | undefined {
  if (text === '') return 'empty url';
  if (control.test(text)) return 'net/url: invalid control character in URL';
  return text.startsWith(':') ? 'missing protocol scheme' : undefined;
}

type Fail = (reason: string) => { readonly reason: string };

/** `mailto:x`: accepted by the parser only as an opaque URI, which a request must not have. */
function opaqueUri(name: string, rest: string, fail: Fail): UrlParts | { readonly reason: string } {
  if (rest === '' || name === '') return fail('invalid URI for request');
  return { scheme: name.toLowerCase(), host: '', escapedPath: '', rawQuery: '' };
}

interface Remainder {
  readonly scheme: string;
  readonly rest: string;
  readonly fail: Fail;
}

function hierarchical({ scheme: name, rest, fail }: Remainder): UrlParts | { readonly reason: string } {
  const [head, rawQuery] = splitQuery(rest);
  const hasAuthority = name !== '' && head.startsWith('//');
  const end = hasAuthority ? endOf(head) : 0;
  const authority = hasAuthority ? head.slice(2, end) : '';
  const path = head.slice(end);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const problem = hostProblem(host);
  if (problem !== undefined) return fail(problem);
  const escaped = badEscape.exec(path);
  if (escaped)
    return fail(`invalid URL escape ${JSON.stringify(path.slice(escaped.index, escaped.index + 3))}`);
  return { scheme: name, host, escapedPath: escapePath(path), rawQuery };
}

/** What is before and behind the question mark, without the fragment. */
function splitQuery(rest: string): readonly [string, string] {
  const hash = rest.indexOf('#');
  const bare = hash < 0 ? rest : rest.slice(0, hash);
  const question = bare.indexOf('?');
  return question < 0 ? [bare, ''] : [bare.slice(0, question), bare.slice(question + 1)];
}

function endOf(head: string): number {
  const slash = head.indexOf('/', 2);
  return slash < 0 ? head.length : slash;
}

const hostCharacter = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/;

/** What is wrong with the host and port of a URL. */
function hostProblem(host: string): string | undefined {
  const character = hostCharacter.exec(host)?.[0];
  if (character !== undefined) return `invalid character ${JSON.stringify(character)} in host name`;
  const escaped = /%(?:[0-7][0-9a-fA-F])/.exec(
    host.startsWith('[') ? host.slice(host.indexOf(']')) : host,
  )?.[0];
  if (escaped !== undefined || badEscape.test(host))
    return `invalid URL escape ${JSON.stringify(escaped ?? host)}`;
  return portProblem(host);
}

function portProblem(host: string): string | undefined {
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host";
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : Math.max(host.lastIndexOf(':'), 0);
  const port = host.slice(end);
  const isValid = port === '' || /^:\d*$/.test(port) || (!host.startsWith('[') && !host.includes(':'));
  return isValid ? undefined : `invalid port ${JSON.stringify(port)} after host`;
}

const pathSafe = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/%[\]]/gu;

function escapePath(path: string): string {
  return path.replace(pathSafe, (char) =>
    Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

/** The host without its port. */
export function hostname(host: string): string {
  const bracket = host.indexOf(']');
  if (host.startsWith('[') && bracket > 0) return host.slice(1, bracket);
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}

export function port(host: string): string {
  const colon = host.indexOf(':', host.indexOf(']') + 1);
  return colon < 0 ? '' : host.slice(colon + 1);
}

/** The values of each key of a query; pairs that cannot be decoded are left out. */
export function parseQuery(rawQuery: string): Map<string, string[]> {
  const query = new Map<string, string[]>();
  for (const pair of rawQuery.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const key = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    query.set(key, [...(query.get(key) ?? []), value]);
  }
  return query;
}

function decode(text: string): string | undefined {
  if (badEscape.test(text)) return undefined;
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-fA-F]{2})|[^%]+/g, (all: string, hex?: string) =>
      hex === undefined ? Buffer.from(all).toString('latin1') : String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
