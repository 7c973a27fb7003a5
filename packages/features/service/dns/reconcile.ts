import type { Service } from '@sheaf/api/workload/index';
import { type Logger, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';

export interface DnsServiceParts {
  readonly client: Client;
  readonly logger: Logger;
  readonly services: ObjectCache<Service>;
  /** That it is to have. */
  readonly address: string;
}

export const dnsService = { namespace: 'kube-system', name: 'kube-dns' } as const;

/** Sees that the Service is there under which pods ask for names. What users change in it stays. */
export async function reconcileDnsService(
  parts: DnsServiceParts,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { client, services, address, logger } = parts;
  if (services.get(`${dnsService.namespace}/${dnsService.name}`)) return done;
  try {
    await create(client, address, signal);
  } catch (error) {
    if (StatusError.is(error, 'AlreadyExists')) return done;
    if (!StatusError.is(error, 'Invalid')) throw error;
    logger.warn('another Service has the usual address of names; pods ask at another one', { address });
    await create(client, undefined, signal);
  }
  return done;
}

async function create(client: Client, address: string | undefined, signal: AbortSignal): Promise<void> {
  const labels = {
    'k8s-app': 'kube-dns',
    'kubernetes.io/cluster-service': 'true',
    'kubernetes.io/name': 'CoreDNS',
  };
  const service: Service = {
    metadata: { ...dnsService, labels },
    spec: {
      type: 'ClusterIP',
      ...(address !== undefined && { clusterIP: address }),
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      ],
    },
  };
  await client.create(resources.services, service, { signal });
}
