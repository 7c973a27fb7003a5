import {
  type ApiExtensions,
  dataAnswer,
  jsonAnswer,
  letInToNode,
  type PlainAnswer,
  type Route,
  type RouteRequest,
} from '@sheaf/api';
import { badRequest, type JsonObject, toError } from '@sheaf/base';
import type { BundleNews, Bundles, LoadedBundle } from '@sheaf/ports';
import { chartNameRule, chartReleaseRule, endingNamespaceRule } from './admission.ts';

export interface BundleParts {
  readonly nodeName: string;
  readonly bundles: Bundles;
}

const subresource = 'bundles';
const place = '/v1/sheaf/nodes/{node}/bundles';
/** What an archive may have at most; its room on the disk is asked when its index has come. */
const mostBytes = 2 ** 42;
const idPattern = /^[0-9a-f]{16}$/;

/** The bundles of a node: looked at, loaded, removed; and rules about charts. Added while the server is put together. */
export function extend(api: ApiExtensions, parts: BundleParts): void {
  for (const rule of [chartNameRule, chartReleaseRule, endingNamespaceRule]) api.addAdmission(rule);
  for (const route of bundleRoutes(parts)) api.addRoute(route);
}

export function bundleRoutes(parts: BundleParts): readonly Route[] {
  const access = 'authorized';
  return [
    { method: 'GET', path: place, access, handle: (request) => list(parts, request) },
    {
      method: 'POST',
      path: place,
      access,
      isLongRunning: true,
      bodyLimitBytes: mostBytes,
      handle: (request) => load(parts, request),
    },
    { method: 'DELETE', path: `${place}/{id}`, access, handle: (request) => remove(parts, request) },
  ];
}

async function list(parts: BundleParts, request: RouteRequest): Promise<PlainAnswer> {
  await letInToNode(request, { nodeName: parts.nodeName, subresource, verb: 'list' });
  return jsonAnswer(200, { items: parts.bundles.list().map(told) });
}

/** Refused as any request is until the archive has come whole; from then on each line tells one piece, and the last one the end. */
async function load(parts: BundleParts, request: RouteRequest): Promise<PlainAnswer> {
  await letInToNode(request, { nodeName: parts.nodeName, subresource, verb: 'create' });
  const news = parts.bundles.load(request.body.stream(), request.signal)[Symbol.asyncIterator]();
  // Whoever goes away before the first line is read ends the load, too.
  request.signal.addEventListener('abort', () => void news.return?.(), { once: true });
  const first = await news.next();
  return dataAnswer('application/x-ndjson', linesOf(first, news));
}

async function* linesOf(
  first: IteratorResult<BundleNews>,
  news: AsyncIterator<BundleNews>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; !next.done; next = await news.next()) yield line(wordsOf(next.value));
  } catch (thrown) {
    yield line({ step: 'failed', message: toError(thrown).message });
  } finally {
    await news.return?.();
  }
}

function wordsOf(news: BundleNews): JsonObject {
  if (news.step !== 'received') return { ...news };
  const { charts, images } = news.index;
  return { step: news.step, id: news.id, charts: charts.length, images: images.length };
}

function line(value: JsonObject): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}

async function remove(parts: BundleParts, request: RouteRequest): Promise<PlainAnswer> {
  await letInToNode(request, { nodeName: parts.nodeName, subresource, verb: 'delete' });
  const { id = '' } = request.parameters;
  if (!idPattern.test(id))
    throw badRequest(
      `${JSON.stringify(id)} is no id of a bundle: it has 16 hex digits; see: sheaf bundle ls`,
    );
  const { kept } = await parts.bundles.remove(id, request.signal);
  return jsonAnswer(200, { kept: [...kept] });
}

function told({
  id,
  loadedAt,
  platform,
  purposes,
  charts,
  images,
  programs,
  parts,
}: LoadedBundle): JsonObject {
  return {
    id,
    loadedAt: new Date(loadedAt).toISOString(),
    platform,
    purposes: [...purposes],
    charts: charts.map(({ repo, chart, version }) => ({ repo, chart, version })),
    images: images.map(({ reference }) => reference),
    programs: programs.map(({ name, version }) => `${name} ${version}`),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
