import { StatusError, toError } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import type { ApiResponse, StreamSink } from '../pipeline/api-request.ts';
import type { RequestContext } from '../pipeline/request-context.ts';
import type { Upstream, UpstreamResponse } from '../upstream/upstream.ts';
import type { RemoteServices } from './remote-services.ts';

/** Headers that belong to one connection, and those that only this server may set. */
const notForwarded =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|authorization|x-remote-.*|impersonate-.*|:.*)$/;
const notReturned =
  /^(connection|keep-alive|proxy-.*|trailer|transfer-encoding|upgrade|content-length|audit-id)$/;

/** Hands requests for aggregated group versions to their servers, as the user who makes them. */
export function aggregationDelegate(
  remotes: RemoteServices,
  upstream: Upstream,
): (context: RequestContext) => Promise<ApiResponse> | undefined {
  return (context) => {
    const place = groupVersionOf(context);
    const found = place && remotes.find(place.group, place.version);
    if (!found) return undefined;
    if ('missing' in found) throw unavailable(found.missing);
    return forward(context, (headers, body) => {
      const { method, path, query, signal } = context.request;
      return upstream.call(found.target, {
        method,
        target: query === '' ? path : `${path}?${query}`,
        headers,
        body,
        signal,
      });
    });
  };
}

function groupVersionOf({ info, request }: RequestContext): { group: string; version: string } | undefined {
  if (info.isResource) return info.group === '' ? undefined : { group: info.group, version: info.version };
  // A group version itself, or the OpenAPI document about it.
  const [, group = '', version = ''] = groupVersionPath.exec(request.path) ?? [];
  return version === '' ? undefined : { group, version };
}

const groupVersionPath = /^\/(?:openapi\/v3\/)?apis\/([^/]+)\/([^/]+)\/*$/;

type Call = (headers: Record<string, string | string[]>, body: Uint8Array) => Promise<UpstreamResponse>;

async function forward(context: RequestContext, call: Call): Promise<ApiResponse> {
  const { request, user } = context;
  if (request.headers['upgrade'] !== undefined) {
    throw new StatusError({
      reason: 'BadRequest',
      message:
        'streams of aggregated API servers that need a connection upgrade cannot be forwarded; use a plain watch instead',
    });
  }
  const headers = { ...forwardedHeaders(request.headers), ...remoteHeaders(user) };
  const response = await call(headers, await request.readBody()).catch((error: unknown) => {
    throw unavailable(`error trying to reach service: ${toError(error).message}`);
  });
  const returned = Object.fromEntries(
    Object.entries(response.headers).filter(([name]) => !notReturned.test(name)),
  );
  return {
    status: response.status,
    headers: returned,
    body: { kind: 'stream', start: (sink) => pump(response.chunks, sink) },
  };
}

function forwardedHeaders(headers: RequestContext['request']['headers']): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !notForwarded.test(name)) kept[name] = value;
  return kept;
}

function remoteHeaders(user: User): Record<string, string | string[]> {
  const extra = Object.entries(user.extra ?? {}).map(([key, values]) => [
    `x-remote-extra-${encodeURIComponent(key)}`,
    [...values],
  ]);
  return {
    'x-remote-user': user.name,
    'x-remote-group': [...user.groups],
    ...(user.uid ? { 'x-remote-uid': user.uid } : {}),
    ...Object.fromEntries(extra),
  };
}

/** Copies the answer as it comes; stops with the client. */
function pump(chunks: AsyncIterable<Uint8Array>, sink: StreamSink): { dispose(): void } {
  let isOver = false;
  const copy = async (): Promise<void> => {
    for await (const chunk of chunks) {
      if (isOver) return;
      sink.write(chunk);
    }
  };
  copy().then(
    () => sink.end(),
    // The head has gone out: a broken stream can only be ended.
    () => sink.end(),
  );
  return { dispose: () => void (isOver = true) };
}

function unavailable(detail: string): StatusError {
  return new StatusError({
    reason: 'ServiceUnavailable',
    message: `service unavailable: ${detail}`,
    details: { retryAfterSeconds: 1 },
  });
}
