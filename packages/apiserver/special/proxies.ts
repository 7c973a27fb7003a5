import type { KubeObject } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import type { ResourceContext } from '../pipeline/request-context.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { Resource } from '../registry/resource.ts';
import type { LiveViews } from '../storage/live-view.ts';
import { resolveService } from '../upstream/service-targets.ts';
import { getObject, type ReadParts } from '../verbs/get.ts';

/**
 * `proxy` of pods, services and nodes. This server has no way into the networks of pods, so every request ends in an
 * error: the one that tells what is missing, in the order in which a client can do something about it.
 */
export function proxyHandlers(parts: ReadParts, views: LiveViews): ReadonlyMap<string, SpecialHandler> {
  return new Map([
    [specialKey('', 'pods', 'proxy'), proxyHandler(parts, podFault)],
    [
      specialKey('', 'services', 'proxy'),
      proxyHandler(parts, (object, port) => serviceFault(views, object, port)),
    ],
    [specialKey('', 'nodes', 'proxy'), proxyHandler(parts, nodeFault)],
  ]);
}

/** What a request cannot reach, as a sentence. */
type Fault = (object: KubeObject, port: string) => string;

function proxyHandler(parts: ReadParts, faultOf: Fault): SpecialHandler {
  return async (context, resource) => {
    const { name, port } = splitName(context, resource);
    // The query is for the one behind the proxy.
    const lookup = { ...context, info: { ...context.info, name }, query: new URLSearchParams() };
    const { object } = await getObject(lookup, resource, parts);
    throw new StatusError({ reason: 'ServiceUnavailable', message: faultOf(object, port) });
  };
}

const schemes: ReadonlySet<string> = new Set(['', 'http', 'https']);

/** `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`. @throws StatusError 400 */
function splitName({ info }: ResourceContext, resource: Resource): { name: string; port: string } {
  const parts = info.name.split(':');
  const [scheme, name, port] = parts.length > 2 ? parts : ['', ...parts, ''];
  if (parts.length > 3 || !name || !schemes.has(scheme ?? ''))
    throw badRequest(`invalid ${resource.singular} request ${JSON.stringify(info.name)}`);
  return { name, port: port ?? '' };
}

const unreachable = 'error trying to reach service';

function podFault(pod: KubeObject): string {
  const name = JSON.stringify(pod.metadata.name);
  const status = fieldsOf(pod['status']);
  return status['podIP']
    ? `${unreachable}: this Sheaf has no way into the network of pod ${name}`
    : `${unreachable}: pod ${name} has no address, because it is not running; see the pod's conditions`;
}

function serviceFault(views: LiveViews, service: KubeObject, wanted: string): string {
  const { name = '', namespace = '' } = service.metadata;
  const ports = fieldsOf(service['spec'])['ports'];
  const port = (Array.isArray(ports) ? ports : [])
    .map(fieldsOf)
    .find((item) => (item['name'] ?? '') === wanted || String(item['port'] as number) === wanted);
  if (port === undefined && /^\d+$/.test(wanted))
    return `no service port ${wanted} found for service ${JSON.stringify(name)}`;
  const target = resolveService(views, { namespace, name, port: Number(port?.['port'] ?? 0) });
  return 'missing' in target || port === undefined
    ? `no endpoints available for service ${JSON.stringify(name)}`
    : `${unreachable}: this Sheaf has no way into the network of service ${JSON.stringify(name)}`;
}

function nodeFault(node: KubeObject): string {
  return `${unreachable}: node ${JSON.stringify(node.metadata.name)} has no kubelet that this Sheaf could ask`;
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
