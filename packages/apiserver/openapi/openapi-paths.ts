import type { Clock } from '@sheaf/base';
import type { ApiResponse } from '../pipeline/api-request.ts';
import type { PathContext, PathHandler } from '../pipeline/path-handler.ts';
import { headerOf } from '../pipeline/request-context.ts';
import { bytesResponse } from '../pipeline/responses.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { parseAccept } from '../representation/media-types.ts';
import type { LiveViews } from '../storage/live-view.ts';
import { type DocumentEncoding, type DocumentHandle, OpenApiDocuments } from './documents.ts';
import { encodeV2Document } from './v2-protobuf.ts';
import { encodeV3Document } from './v3-protobuf.ts';

export interface OpenApiOptions {
  readonly registry: ResourceRegistry;
  readonly views: LiveViews;
  readonly clock: Clock;
  /** Documents that aggregated servers have: hashes by the path below `/openapi/v3/`. Requests for them do not come here. */
  readonly remotes: () => ReadonlyMap<string, string>;
}

type Version = 'v2' | 'v3';

const yearMilliseconds = 365 * 24 * 3600 * 1000;
/** Smaller packed documents are sent in plain. */
const packedThreshold = 16 * 1024;
const protobufTypes: Readonly<Record<Version, string>> = {
  v2: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  v3: 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
};

/** `/openapi/v3`, its documents, and `/openapi/v2`. */
export function openapiPaths({ registry, views, clock, remotes }: OpenApiOptions): PathHandler {
  const documents = new OpenApiDocuments({
    registry,
    definitions: views.of('apiextensions.k8s.io', 'customresourcedefinitions'),
    encodeV2: encodeV2Document,
    encodeV3: encodeV3Document,
  });
  return (context) => {
    const { path } = context.info;
    if (!path.startsWith('/openapi/')) return undefined;
    if (path === '/openapi/v2') return answer(context, documents.all(), { version: 'v2', clock });
    if (path === '/openapi/v3' || path === '/openapi/v3/')
      return bytesResponse(200, 'application/json', documents.index(remotes()));
    if (!path.startsWith('/openapi/v3/')) return undefined;
    return answerOne(context, documents, clock);
  };
}

function answerOne(
  context: PathContext,
  documents: OpenApiDocuments,
  clock: Clock,
): Promise<ApiResponse> | ApiResponse | undefined {
  const path = context.info.path.slice('/openapi/v3/'.length);
  const handle = documents.find(path);
  if (!handle) return undefined;
  const wanted = context.query.get('hash');
  if (wanted === null || wanted === '' || wanted === handle.hash)
    return answer(context, handle, { version: 'v3', clock, isPinned: wanted === handle.hash });
  return {
    status: 301,
    headers: {
      location: `/openapi/v3/${path}?hash=${handle.hash}`,
      etag: `"${handle.hash}"`,
      vary: 'Accept',
    },
    body: { kind: 'bytes', chunks: [new Uint8Array()] },
  };
}

interface AnswerOptions {
  readonly version: Version;
  readonly clock: Clock;
  /** The request names the right hash: its answer will never be another one. */
  readonly isPinned?: boolean;
}

async function answer(
  context: PathContext,
  handle: DocumentHandle,
  { version, clock, isPinned = false }: AnswerOptions,
): Promise<ApiResponse> {
  const encoding = encodingFor(context, version);
  if (!encoding) return { status: 406, headers: { vary: 'Accept' }, body: emptyBody };
  const headers: Record<string, string> = {
    'content-type': encoding === 'json' ? 'application/json' : protobufTypes[version],
    etag: `"${handle.hash}"`,
    vary: 'Accept, Accept-Encoding',
  };
  if (isPinned) {
    headers['cache-control'] = 'public, immutable';
    headers['expires'] = new Date(clock.now() + yearMilliseconds).toUTCString();
  }
  if (matchesTag(headerOf(context.request, 'if-none-match'), handle.hash))
    return { status: 304, headers, body: emptyBody };
  const document = await handle.load(encoding);
  const isPacked =
    document.gzip.length > packedThreshold &&
    /\bgzip\b/.test(headerOf(context.request, 'accept-encoding') ?? '');
  if (isPacked) headers['content-encoding'] = 'gzip';
  const bytes = isPacked ? document.gzip : await document.plain();
  return { status: 200, headers, body: { kind: 'bytes', chunks: [bytes] } };
}

const emptyBody: ApiResponse['body'] = { kind: 'bytes', chunks: [new Uint8Array()] };

function matchesTag(header: string | undefined, hash: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === `"${hash}"`);
}

function encodingFor(context: PathContext, version: Version): DocumentEncoding | undefined {
  for (const { type } of parseAccept(headerOf(context.request, 'accept'))) {
    if (type === '*/*' || type === 'application/*' || type === 'application/json') return 'json';
    // Clients write the version with an at sign.
    if (type.replace('@', '.') === protobufTypes[version]) return 'protobuf';
  }
  return undefined;
}
