import { networkInterfaces } from 'node:os';
import type { ServerCertificates } from '@sheaf/apiserver/certificates/index';
import type { ControlPlaneFacts } from '@sheaf/features/bootstrap';
import { serviceAddress, serviceNetwork } from './service-network.ts';

export interface FactsInput {
  /** The address the server listens on. */
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly certificates: ServerCertificates;
}

/** What objects in the API say about this control plane. */
export function controlPlaneFacts({ host, port, url, certificates }: FactsInput): ControlPlaneFacts {
  const address = outsideAddress(host);
  return {
    serviceNetwork,
    serviceAddress,
    endpoint: address === undefined ? undefined : { address, port },
    port,
    url,
    authority: certificates.authority.certificatePem,
    frontProxyAuthority: certificates.frontProxyAuthority.certificatePem,
  };
}

/** An address by which other machines reach a server that listens on `host`; none for the loopback and for names. */
function outsideAddress(host: string): string | undefined {
  if (host !== '0.0.0.0' && host !== '::')
    return /^[\d.]+$/.test(host) && !host.startsWith('127.') ? host : undefined;
  return Object.values(networkInterfaces())
    .flat()
    .find((item) => item && !item.internal && item.family === 'IPv4')?.address;
}
