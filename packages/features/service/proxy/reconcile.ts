import { identityOf } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type { EndpointSlice, Pod, Service } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { ProxiedService, ProxyBackend, ServiceProblem, ServiceProxy } from '@sheaf/ports';
import { again, type ObjectCache, type ReconcileResult, type RecordedEvent } from '@sheaf/runtime';
import { planServices } from './plan.ts';

export interface ProxyParts {
  readonly proxy: ServiceProxy;
  readonly nodeName: string;
  readonly services: ObjectCache<Service>;
  readonly slices: ObjectCache<EndpointSlice>;
  readonly pods: ObjectCache<Pod>;
  readonly nodes: ObjectCache<NodeObject>;
  /** Services that this process answers itself, by `NAMESPACE/NAME`. */
  readonly parts: () => ReadonlyMap<string, ProxyBackend>;
  /** Tells users once, as long as it stays so. */
  readonly tell: (about: string, event: RecordedEvent | undefined) => void;
}

/** Others may take rules away; nobody tells of that. */
const lookAgainMs = 20_000;
const tryAgainMs = 30_000;

/** One pass over all Services: they become reachable in one step. */
export async function reconcileProxy(parts: ProxyParts, signal: AbortSignal): Promise<ReconcileResult> {
  const { services, slices, nodeName } = parts;
  const wanted = planServices({
    services: services.list(),
    slices: slices.list(),
    nodeName,
    parts: parts.parts(),
  });
  let problems: readonly ServiceProblem[];
  try {
    problems = await serve(parts.proxy, wanted, signal);
  } catch (error) {
    if (!StatusError.is(error, 'ServiceUnavailable')) throw error;
    tellNode(parts, error.message);
    return again(tryAgainMs);
  }
  parts.tell('node', undefined);
  for (const service of services.list()) tellService(parts, service, problems);
  return again(lookAgainMs);
}

/** What this host can do is looked at when it is needed for the first time, and whenever it does not do. */
async function serve(
  proxy: ServiceProxy,
  wanted: readonly ProxiedService[],
  signal: AbortSignal,
): Promise<readonly ServiceProblem[]> {
  try {
    return await proxy.apply(wanted, signal);
  } catch (error) {
    if (!StatusError.is(error, 'ServiceUnavailable')) throw error;
    await proxy.probe(signal);
    return await proxy.apply(wanted, signal);
  }
}

/** Where no pod runs, nobody misses anything. */
function tellNode({ nodes, nodeName, pods, tell }: ProxyParts, message: string): void {
  const node = nodes.get(nodeName);
  const hasPods = pods
    .list()
    .some(({ spec, status }) => spec.nodeName === nodeName && status?.podIP !== undefined);
  if (!node || !hasPods) return;
  const about = { resource: resources.nodes, ...identityOf(node), namespace: '' };
  tell('node', { about, type: 'Warning', reason: 'ServicesNotServed', message });
}

function tellService({ tell }: ProxyParts, service: Service, problems: readonly ServiceProblem[]): void {
  const { namespace, name } = identityOf(service);
  const own = problems.filter(({ serviceId }) => serviceId === `${namespace}/${name}`);
  const about = { resource: resources.services, ...identityOf(service) };
  for (const reason of ['NodePortInUse', 'AffinityNotKept', 'RulesRefused'] as const) {
    const texts = own
      .filter((problem) => problem.reason === reason)
      .map(({ message, wayOut }) => `${message}; ${wayOut}`);
    const event = { about, type: 'Warning', reason, message: texts.join('; ') } as const;
    tell(`${namespace}/${name} ${reason}`, texts.length > 0 ? event : undefined);
  }
}
