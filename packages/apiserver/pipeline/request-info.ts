import { badRequest } from '@sheaf/base';

/** What a request is about, read from its method, path and query alone. */
export type RequestInfo = ResourceRequestInfo | PathRequestInfo;

export interface ResourceRequestInfo {
  readonly isResource: true;
  /** get list watch create update patch delete deletecollection, or the HTTP method in lower case where none fits. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for collections. */
  readonly name: string;
  /** What follows the subresource, for proxies; begins with `/` when present. */
  readonly rest: string;
}

export interface PathRequestInfo {
  readonly isResource: false;
  readonly verb: string;
  readonly path: string;
}

const verbsOfMethods: Readonly<Record<string, readonly [onName: string, onCollection: string]>> = {
  GET: ['get', 'list'],
  HEAD: ['get', 'list'],
  POST: ['create', 'create'],
  PUT: ['update', 'update'],
  PATCH: ['patch', 'patch'],
  DELETE: ['delete', 'deletecollection'],
};

/** Subresources of namespaces; every other word after a namespace's name is a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize']);

export function readRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = splitPath(path);
  const prefix = groupVersionOf(parts);
  if (!prefix) return { isResource: false, verb: method.toLowerCase(), path };
  let rest = parts.slice(prefix.used);
  const isLegacyWatch = rest[0] === 'watch' && rest.length > 1;
  if (isLegacyWatch) rest = rest.slice(1);
  const target = targetOf(rest);
  const verb = isLegacyWatch ? 'watch' : verbOf(method, target, query);
  return { isResource: true, verb, group: prefix.group, version: prefix.version, ...target };
}

function splitPath(path: string): string[] {
  const isPlain = path.startsWith('/') && !path.endsWith('/') && !path.includes('//') && !path.includes('%');
  if (isPlain) return path.slice(1).split('/');
  try {
    return path
      .split('/')
      .filter((part) => part !== '')
      .map((part) => decodeURIComponent(part));
  } catch (error) {
    throw badRequest(`the path ${JSON.stringify(path)} is not valid percent-encoding`, error);
  }
}

function groupVersionOf(
  parts: readonly string[],
): { group: string; version: string; used: number } | undefined {
  const [root, first, second] = parts;
  if (root === 'api' && first !== undefined && parts.length > 2)
    return { group: '', version: first, used: 2 };
  if (root === 'apis' && first !== undefined && second !== undefined && parts.length > 3) {
    return { group: first, version: second, used: 3 };
  }
  return undefined;
}

interface Target {
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly rest: string;
}

function targetOf(parts: readonly string[]): Target {
  const [first, namespace = '', word] = parts;
  if (first !== 'namespaces' || word === undefined || namespaceSubresources.has(word)) {
    // A namespace is in itself, for the sake of role bindings.
    return named(parts, first === 'namespaces' ? namespace : '');
  }
  return named(parts.slice(2), namespace);
}

function named(parts: readonly string[], namespace: string): Target {
  const [resource = '', name = '', subresource = '', ...rest] = parts;
  return { namespace, resource, name, subresource, rest: rest.length > 0 ? `/${rest.join('/')}` : '' };
}

function verbOf(method: string, target: Target, query: URLSearchParams): string {
  const pair = verbsOfMethods[method];
  if (!pair) return method.toLowerCase();
  const watch = query.get('watch');
  const isWatch = watch !== null && watch !== '0' && watch.toLowerCase() !== 'false';
  if (pair[0] === 'get' && isWatch && target.name === '') return 'watch';
  return target.name === '' ? pair[1] : pair[0];
}
