import { HttpServer } from '@sheaf/apiserver';
import { loadBootstrapPolicy, planBootstrap } from '@sheaf/apiserver/authorization/index';
import { silentLogger } from '@sheaf/base';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { bootstrap } from '@sheaf/features/bootstrap';
import { register as registerCustomResource } from '@sheaf/features/custom-resource';
import { Manager } from '@sheaf/runtime';
import { startTestServer, testCertificates } from '@sheaf/testkit';
import { readKubeconfig } from '../../bench/client/kubeconfig.ts';
import type { ServerAddress } from './target.ts';

export interface OpenServer {
  readonly address: ServerAddress;
  stop(): Promise<void>;
}

/** Our API server on the memory store, over TLS on the loopback, without controllers: like a bare kube-apiserver. */
export async function startOwnServer(): Promise<OpenServer> {
  const certificates = await testCertificates();
  const { authority, serving, admin } = certificates;
  const server = await startTestServer({ clock: systemClock, random: systemRandom });
  await bootstrap(server.client, {
    facts: {
      serviceAddress: '10.0.0.1',
      serviceNetwork: '10.0.0.0/16',
      endpoint: undefined,
      port: 6443,
      authority: authority.certificatePem,
      frontProxyAuthority: certificates.frontProxyAuthority.certificatePem,
      url: 'https://127.0.0.1:6443',
    },
    logger: silentLogger,
    planPolicy: async () => planBootstrap(await loadBootstrapPolicy(), server.server.stores),
  });
  const manager = new Manager({
    client: server.client,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  });
  // kube-apiserver cleans up after definitions by itself; everything else that it does not do is left out here too.
  registerCustomResource(manager);
  const managed = manager.start();
  const http = new HttpServer({
    handler: server.server.handle,
    clock: systemClock,
    tls: { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem },
  });
  const { port } = await http.listen('127.0.0.1', 0);
  return {
    address: {
      host: '127.0.0.1',
      port,
      authority: authority.certificatePem,
      certificate: admin.certificatePem,
      key: admin.privateKeyPem,
    },
    async stop() {
      await http.close(0);
      await manager.stop();
      await managed;
      await server.close();
    },
  };
}

/** The server of a kubeconfig whose user has a client certificate. */
export async function serverOf(kubeconfig: string): Promise<ServerAddress> {
  const { host, port, ca, certificate, key } = await readKubeconfig(kubeconfig);
  if (!ca || !certificate || !key) throw new Error(`${kubeconfig} has no client certificate`);
  return {
    host,
    port,
    authority: ca.toString('utf8'),
    certificate: certificate.toString('utf8'),
    key: key.toString('utf8'),
  };
}
