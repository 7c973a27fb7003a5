import type { ExtensionEndpoint, KubeObject } from '@sheaf/api';
import { DisposableStore, type JsonObject } from '@sheaf/base';
import type { AdmissionChain } from '../admission/chain.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { admissionRequest } from '../verbs/write-parts.ts';

export interface ConnectionParts {
  readonly registry: ResourceRegistry;
  readonly admission: AdmissionChain;
}

/**
 * Rules, policies and webhooks about CONNECT have a say in a connection into a kept object; they see its query as an object of the
 * endpoint's kind, such as PodExecOptions. What they would change of it counts for nothing. @throws StatusError
 */
export async function admitConnection(
  context: ResourceContext,
  endpoint: ExtensionEndpoint,
  { registry, admission }: ConnectionParts,
): Promise<void> {
  const { group, version, resource: plural } = context.info;
  const resource = registry.find(group, version, plural);
  if (endpoint.isOfKept !== true || endpoint.kind === undefined || !resource) return;
  const lifetime = new DisposableStore();
  const kind = { group, version, kind: endpoint.kind };
  try {
    const request = admissionRequest(context, resource, {
      operation: 'CONNECT',
      object: optionsObject(kind, context.query),
      oldObject: undefined,
      subresource: { name: context.info.subresource, kind, verbs: endpoint.verbs },
      options: {},
      dryRun: false,
      lifetime,
    });
    await admission.mutate(request);
    await admission.validate(request);
  } finally {
    lifetime.dispose();
  }
}

const switches = ['stdin', 'stdout', 'stderr', 'tty'] as const;

function optionsObject(
  { version, kind }: { version: string; kind: string },
  query: URLSearchParams,
): KubeObject {
  const options: JsonObject = {};
  for (const name of switches) if (isYes(query.get(name))) options[name] = true;
  const container = query.get('container') ?? '';
  if (container !== '') options['container'] = container;
  const command = query.getAll('command');
  if (command.length > 0) options['command'] = command;
  const ports = query.getAll('ports').flatMap((text) => text.split(','));
  if (ports.length > 0) options['ports'] = ports.map(Number).filter(Number.isInteger);
  return { apiVersion: version, kind, metadata: {}, ...options };
}

function isYes(text: string | null): boolean {
  return text !== null && text.toLowerCase() !== 'false' && text !== '0';
}
