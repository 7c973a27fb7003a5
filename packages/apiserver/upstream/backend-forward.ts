import { StatusError, toError } from '@sheaf/base';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import type { BackendProxy, BackendTarget, UpstreamResponse } from './upstream.ts';

/** Headers that belong to one connection, and those that tell who asks: that is nobody's business behind the API. */
const notForwarded =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|authorization|x-remote-.*|impersonate-.*|:.*)$/;
const notReturned =
  /^(connection|keep-alive|proxy-.*|trailer|transfer-encoding|upgrade|audit-id|access-control-.*)$/;
const proxyPath = /^((?:\/[^/]+){2,6}?\/proxy)(\/.*)?$/;
const bodyLimit = 2 ** 40;

/** Hands a request to what is behind a `proxy` path, and the answer back. @throws StatusError 503 with the words of the system */
export async function forwardToBackend(
  request: ApiRequest,
  target: BackendTarget,
  backends: BackendProxy,
): Promise<ApiResponse> {
  const [, base = '', path = ''] = proxyPath.exec(request.path) ?? [];
  const query = request.query === '' ? '' : `?${request.query}`;
  // Links in the page at the root would lead beside it.
  if (path === '' && request.upgrade === undefined && isRead(request.method))
    return redirect(`${request.path}/${query}`);
  const answer = await backends
    .call(target, {
      method: request.method,
      target: `${path === '' ? '/' : path}${query}`,
      headers: { ...headersOf(request, base, path), host: hostOf(target) },
      body: bodyOf(request),
      signal: request.signal,
    })
    .catch((error: unknown) => {
      throw new StatusError({
        reason: 'ServiceUnavailable',
        message: `error trying to reach service: ${toError(error).message}`,
      });
    });
  return 'stream' in answer
    ? { status: 101, headers: {}, body: { kind: 'upgrade', answer: { kind: 'relay', ...answer } } }
    : handedBack(answer, base, target);
}

function handedBack(answer: UpstreamResponse, base: string, target: BackendTarget): ApiResponse {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) => !notReturned.test(name)),
  );
  const { location } = headers;
  if (typeof location === 'string') headers['location'] = ledThrough(location, base, target);
  return { status: answer.status, headers, body: { kind: 'pull', chunks: answer.chunks } };
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function redirect(location: string): ApiResponse {
  return { status: 301, headers: { location }, body: { kind: 'bytes', chunks: [] } };
}

function hostOf({ scheme, host, port }: BackendTarget): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (scheme === 'https' ? 443 : 80) ? name : `${name}:${port}`;
}

function headersOf(
  { headers, upgrade, remoteAddress }: ApiRequest,
  base: string,
  path: string,
): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !notForwarded.test(name)) kept[name] = value;
  const before = [headers['x-forwarded-for'] ?? []].flat();
  return {
    ...kept,
    'x-forwarded-for': [...before, remoteAddress].join(', '),
    'x-forwarded-uri': `${base}${path}`,
    'x-forwarded-proto': 'https',
    ...(headers['host'] === undefined ? {} : { 'x-forwarded-host': headers['host'] }),
    ...(upgrade && { connection: 'Upgrade', upgrade: headers['upgrade'] ?? 'websocket' }),
  };
}

async function* bodyOf(request: ApiRequest): AsyncGenerator<Uint8Array> {
  if (request.upgrade !== undefined || isRead(request.method)) return;
  if (request.openBody) yield* request.openBody(bodyLimit);
  else yield await request.readBody(bodyLimit);
}

/** Where it sends a client that knows only the way through the API. */
function ledThrough(location: string, base: string, { scheme, host, port }: BackendTarget): string {
  const own = `${scheme}://${hostOf({ scheme, host, port })}`;
  const path = location === own || location.startsWith(`${own}/`) ? location.slice(own.length) : location;
  return path.startsWith('/') && !path.startsWith('//') && !path.startsWith(`${base}/`)
    ? `${base}${path}`
    : location;
}
