import { isIP } from 'node:net';
import type { AlternativeNames } from './extensions.ts';

export interface ServingNamesOptions {
  /** Addresses and host names under which the server is reached, besides the standard ones; brackets are not allowed. */
  readonly hosts: readonly string[];
  /** The address of the `kubernetes` service. */
  readonly serviceAddress?: string;
  readonly clusterDomain?: string;
}

/** Every name a client may use for the API server: local ones, the `kubernetes` service's, and those given. */
export function servingNames(options: ServingNamesOptions): AlternativeNames {
  const domain = options.clusterDomain ?? 'cluster.local';
  const dnsNames = new Set([
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${domain}`,
  ]);
  const addresses = new Set(['127.0.0.1', '::1', options.serviceAddress ?? '10.43.0.1']);
  for (const host of options.hosts) (isIP(host) ? addresses : dnsNames).add(host);
  return { dnsNames: [...dnsNames], addresses: [...addresses] };
}
