import type { ProxyBackend } from '@sheaf/ports';

/** Where Services have their addresses. */
export const serviceNetwork = '10.43.0.0/16';
/** Of the API server. */
export const serviceAddress = '10.43.0.1';
/** Of who answers for names. */
export const nameAddress = '10.43.0.10';
export const clusterDomain = 'cluster.local';

/**
 * Where this host leads pods that want the API server. It may listen on the loopback: only pods of this host get there, through
 * rules of the kernel, and nobody else on the network. `undefined`: it listens on IPv6 alone, which pods here do not have.
 */
export function apiServerFor(host: string, port: number): ProxyBackend | undefined {
  if (['0.0.0.0', '::', 'localhost'].includes(host)) return { address: '127.0.0.1', port };
  return /^[\d.]+$/.test(host) ? { address: host, port } : undefined;
}
