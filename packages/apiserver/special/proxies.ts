import { emptyAnswer, type KubeObject } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import { admitConnection, type ConnectionParts } from '../extension/connection-admission.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { Resource } from '../registry/resource.ts';
import type { LiveViews } from '../storage/live-view.ts';
import { forwardToBackend } from '../upstream/backend-forward.ts';
import { isGlobalUnicast } from '../upstream/global-unicast.ts';
import { resolveService } from '../upstream/service-targets.ts';
import type { BackendProxy } from '../upstream/upstream.ts';
import { getObject, type ReadParts } from '../verbs/get.ts';

export interface ProxyOptions {
  readonly parts: ReadParts & ConnectionParts;
  readonly views: LiveViews;
  /** Absent: nothing behind the API can be reached, and every request says so. */
  readonly backends: BackendProxy | undefined;
}

/** `proxy` of pods and services leads to what is behind them; that of nodes leads nowhere. */
export function proxyHandlers(options: ProxyOptions): ReadonlyMap<string, SpecialHandler> {
  const { views } = options;
  return new Map([
    [specialKey('', 'pods', 'proxy'), proxyHandler(options, 'PodProxyOptions', podTarget)],
    [
      specialKey('', 'services', 'proxy'),
      proxyHandler(options, 'ServiceProxyOptions', (object, port) => serviceTarget(views, object, port)),
    ],
    [specialKey('', 'nodes', 'proxy'), proxyHandler(options, 'NodeProxyOptions', nodeTarget)],
  ]);
}

/** Where a request goes, or what it cannot reach, as a sentence. */
type FoundTarget = { readonly host: string; readonly port: number | undefined } | { readonly fault: string };

const verbs = ['get', 'create', 'update', 'patch', 'delete'];

function proxyHandler(
  { parts, backends }: ProxyOptions,
  kind: string,
  find: (object: KubeObject, port: string) => FoundTarget,
): SpecialHandler {
  return async (context, resource) => {
    const { scheme, name, port } = splitName(context, resource);
    // The query is for the one behind the proxy.
    const lookup = { ...context, info: { ...context.info, name }, query: new URLSearchParams() };
    const { object } = await getObject(lookup, resource, parts);
    const found = find(object, port);
    if ('fault' in found) throw unavailable(found.fault);
    if (!isGlobalUnicast(found.host)) throw badRequest('address not allowed');
    const endpoint = {
      resource: resource.plural,
      kind,
      verbs,
      isOfKept: true,
      handle: () => emptyAnswer(204),
    };
    await admitConnection(lookup, endpoint, parts);
    if (!backends)
      throw unavailable(
        `${unreachable}: this Sheaf has no way into the network of ${resource.singular} ${quoted(object)}`,
      );
    const target = { scheme, host: found.host, port: found.port ?? (scheme === 'https' ? 443 : 80) };
    return await forwardToBackend(context.request, target, backends);
  };
}

function quoted({ metadata }: KubeObject): string {
  return JSON.stringify(metadata.name);
}

function unavailable(message: string): StatusError {
  return new StatusError({ reason: 'ServiceUnavailable', message });
}

const schemes: ReadonlySet<string> = new Set(['', 'http', 'https']);

/** `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`. @throws StatusError 400 */
function splitName(
  { info }: ResourceContext,
  resource: Resource,
): { scheme: 'http' | 'https'; name: string; port: string } {
  const parts = info.name.split(':');
  const [scheme, name, port] = parts.length > 2 ? parts : ['', ...parts, ''];
  if (parts.length > 3 || !name || !schemes.has(scheme ?? ''))
    throw badRequest(`invalid ${resource.singular} request ${JSON.stringify(info.name)}`);
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port: port ?? '' };
}

const unreachable = 'error trying to reach service';

function podTarget(pod: KubeObject, wanted: string): FoundTarget {
  const { podIP } = fieldsOf(pod['status']);
  if (typeof podIP !== 'string' || podIP === '')
    return {
      fault: `${unreachable}: pod ${quoted(pod)} has no address, because it is not running; see the pod's conditions`,
    };
  const [first] = listOf(fieldsOf(pod['spec'])['containers']).flatMap(({ ports }) => listOf(ports));
  const port = wanted === '' ? first?.['containerPort'] : Number(wanted);
  if (wanted !== '' && !isPort(port))
    throw badRequest(`invalid port ${JSON.stringify(wanted)} of pod ${quoted(pod)}`);
  return { host: podIP, port: isPort(port) ? port : undefined };
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}

function serviceTarget(views: LiveViews, service: KubeObject, wanted: string): FoundTarget {
  const { name = '', namespace = '' } = service.metadata;
  const spec = fieldsOf(service['spec']);
  const port = listOf(spec['ports']).find(
    (item) => (item['name'] ?? '') === wanted || String(item['port'] as number) === wanted,
  );
  if (port === undefined && /^\d+$/.test(wanted))
    return { fault: `no service port ${wanted} found for service ${quoted(service)}` };
  const isOutside = spec['type'] === 'ExternalName';
  const target = resolveService(views, { namespace, name, port: Number(port?.['port'] ?? 0) });
  return isOutside || 'missing' in target || port === undefined
    ? { fault: `no endpoints available for service ${quoted(service)}` }
    : target;
}

function nodeTarget(node: KubeObject): FoundTarget {
  return { fault: `${unreachable}: node ${quoted(node)} has no kubelet that this Sheaf could ask` };
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
