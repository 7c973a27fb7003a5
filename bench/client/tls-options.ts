import type { ConnectionOptions } from 'node:tls';
import type { Target } from './kubeconfig.ts';

/** How to reach and verify the server of `target`, and the client's certificate if it has one. */
export function tlsOptions(target: Target): ConnectionOptions {
  return {
    host: target.host,
    port: target.port,
    servername: 'localhost',
    // Certificates name the address or localhost; the authority is what is verified.
    checkServerIdentity: () => undefined,
    ...(target.ca === undefined ? {} : { ca: target.ca }),
    ...(target.certificate === undefined ? {} : { cert: target.certificate }),
    ...(target.key === undefined ? {} : { key: target.key }),
  };
}
