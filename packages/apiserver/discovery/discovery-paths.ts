import { createHash } from 'node:crypto';
import type { JsonObject } from '@sheaf/base';
import type { ApiResponse } from '../pipeline/api-request.ts';
import type { PathContext, PathHandler } from '../pipeline/path-handler.ts';
import { headerOf } from '../pipeline/request-context.ts';
import { bytesResponse } from '../pipeline/responses.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { parseAccept } from '../representation/media-types.ts';
import { negotiateDocument } from '../representation/negotiate.ts';
import { unknownResource } from '../verbs/errors.ts';
import {
  aggregatedDocument,
  apiVersionsDocument,
  groupDocument,
  groupListDocument,
  resourceListDocument,
} from './discovery-documents.ts';
import { type RemoteGroupVersion, type ServedGroup, servedGroups } from './served-groups.ts';

export interface DiscoveryOptions {
  readonly registry: ResourceRegistry;
  /** What aggregated API servers serve; `version` grows with each change. */
  readonly remotes: () => { readonly version: number; readonly groups: readonly RemoteGroupVersion[] };
  /** `host:port` under which clients reach the server. */
  readonly serverAddress: () => string;
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Aggregated {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** `/api`, `/apis`, `/apis/GROUP` and `/apis/GROUP/VERSION`. Documents are made once for each state of the registry. */
export function discoveryPaths(options: DiscoveryOptions): PathHandler {
  const cache = new DiscoveryCache(options);
  return (context) => {
    const parts = context.info.path.split('/').filter((part) => part !== '');
    if (parts[0] === 'api') return coreDiscovery(context, cache, { parts, options });
    if (parts[0] === 'apis') return groupDiscovery(context, cache, parts);
    return undefined;
  };
}

class DiscoveryCache {
  readonly #options: DiscoveryOptions;
  readonly #aggregated = new Map<string, Aggregated>();
  #groups: readonly ServedGroup[] = [];
  #version = '';

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  groups(): readonly ServedGroup[] {
    const remotes = this.#options.remotes();
    const version = `${this.#options.registry.version}/${remotes.version}`;
    if (version !== this.#version) {
      this.#groups = servedGroups(this.#options.registry, remotes.groups);
      this.#aggregated.clear();
      this.#version = version;
    }
    return this.#groups;
  }

  /** `core` for `/api`, `named` for `/apis`. */
  aggregated(which: 'core' | 'named'): Aggregated {
    const groups = this.groups();
    let document = this.#aggregated.get(which);
    if (!document) {
      const bytes = Buffer.from(
        JSON.stringify(
          aggregatedDocument(groups.filter(({ group }) => (group === '') === (which === 'core'))),
        ),
      );
      document = { bytes, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"` };
      this.#aggregated.set(which, document);
    }
    return document;
  }
}

function coreDiscovery(
  context: PathContext,
  cache: DiscoveryCache,
  { parts, options }: { parts: readonly string[]; options: DiscoveryOptions },
): ApiResponse | undefined {
  if (parts.length === 1) {
    if (wantsAggregated(context)) return aggregatedResponse(context, cache.aggregated('core'));
    return documentResponse(context, apiVersionsDocument(options.serverAddress()));
  }
  return parts.length === 2
    ? versionDiscovery(context, cache, { group: '', version: parts[1] ?? '' })
    : undefined;
}

function groupDiscovery(
  context: PathContext,
  cache: DiscoveryCache,
  parts: readonly string[],
): ApiResponse | undefined {
  const [, group, version] = parts;
  if (group === undefined) {
    if (wantsAggregated(context)) return aggregatedResponse(context, cache.aggregated('named'));
    return documentResponse(context, groupListDocument(cache.groups()));
  }
  if (version !== undefined)
    return parts.length === 3 ? versionDiscovery(context, cache, { group, version }) : undefined;
  const served = cache.groups().find((item) => item.group === group);
  return served && group !== '' ? documentResponse(context, groupDocument(served)) : undefined;
}

function versionDiscovery(
  context: PathContext,
  cache: DiscoveryCache,
  { group, version }: { group: string; version: string },
): ApiResponse | undefined {
  const served = cache.groups().find((item) => item.group === group);
  const found = served?.versions.find((item) => item.version === version);
  if (found) return documentResponse(context, resourceListDocument(group, found));
  if (served?.versions.some(({ resources }) => resources.some(({ isBuiltin }) => isBuiltin)))
    throw unknownResource();
  return undefined;
}

function wantsAggregated(context: PathContext): boolean {
  return parseAccept(headerOf(context.request, 'accept')).some(
    ({ type, parameters }) =>
      type === 'application/json' &&
      parameters.get('as') === 'APIGroupDiscoveryList' &&
      parameters.get('v') === 'v2' &&
      parameters.get('g') === 'apidiscovery.k8s.io',
  );
}

function aggregatedResponse(context: PathContext, document: Aggregated): ApiResponse {
  const headers = {
    'content-type': aggregatedType,
    etag: document.etag,
    vary: 'Accept',
    'cache-control': 'public',
  };
  if (headerOf(context.request, 'if-none-match') === document.etag)
    return { status: 304, headers, body: { kind: 'bytes', chunks: [new Uint8Array()] } };
  return { status: 200, headers, body: { kind: 'bytes', chunks: [document.bytes] } };
}

function documentResponse(context: PathContext, document: JsonObject): ApiResponse {
  const format = negotiateDocument({
    accept: headerOf(context.request, 'accept'),
    userAgent: headerOf(context.request, 'user-agent'),
    query: context.query,
  });
  return bytesResponse(200, format.contentType, format.encode(document));
}
