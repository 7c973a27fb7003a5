import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { HttpServer, type OpenApiServer, openApiServer } from '@sheaf/apiserver';
import { SigningKeys } from '@sheaf/apiserver/authentication/index';
import {
  CertificateRenewal,
  kubeconfigText,
  openServerCertificates,
  type ServerCertificates,
  servingNames,
} from '@sheaf/apiserver/certificates/index';
import { openEncryption } from '@sheaf/apiserver/encryption/index';
import { DisposableStore } from '@sheaf/base';
import { DirectoryCertificateFiles, jsonLogger, systemClock, systemRandom } from '@sheaf/drivers/system';
import { HostBackends, HttpsUpstream } from '@sheaf/drivers/upstream';
import { HttpsWebhookClient } from '@sheaf/drivers/webhook';
import { openSqliteStore } from '@sheaf/store';
import { readAuditPolicyFile } from './audit-policy-file.ts';
import { controlPlaneFacts } from './control-plane-facts.ts';
import { startControllers } from './controllers.ts';
import { featureExtensions } from './extensions.ts';
import { type MachineHost, openMachineHost } from './machine-host.ts';
import { observation } from './observation.ts';
import { tell } from './own-output.ts';
import { resealInBackground } from './reseal.ts';
import { apiServerFor } from './service-network.ts';
import type { UpOptions } from './up-options.ts';
import { serverVersion } from './version.ts';

/** A running control plane: the composition root binds every port here. */
export interface ControlPlane {
  readonly url: string;
  readonly kubeconfigPath: string;
  readonly host: Pick<MachineHost, 'capabilities' | 'countRunning'>;
  /** Ends streams, finishes short requests, closes the store. Virtual machines and pods run on. */
  stop(): Promise<void>;
}

const stopGraceMs = 5000;
/** A namespace's account is made by a controller, soon after it. */
const defaultAccountWaitMs = 2000;
const issuer = 'https://kubernetes.default.svc.cluster.local';

export async function startControlPlane(options: UpOptions): Promise<ControlPlane> {
  const dataDir = resolve(options.dataDir);
  const auditPolicy = await readAuditPolicyFile(options.auditPolicyFile);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const logger = jsonLogger({
    level: options.logLevel,
    clock: systemClock,
    write: (line) => tell(process.stderr, line),
  });
  const store = await openSqliteStore({ directory: dataDir, clock: systemClock, logger });
  const { hasContainers = true } = options;
  const surroundings = { dataDir, clock: systemClock, random: systemRandom, logger };
  const host = await openMachineHost({ ...surroundings, hasContainers }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const lifetime = new DisposableStore();
  try {
    const files = new DirectoryCertificateFiles(join(dataDir, 'certificates'));
    const certificateOptions = {
      files,
      clock: systemClock,
      random: systemRandom,
      servingNames: servingNames({ hosts: [options.host, hostname()] }),
    };
    const certificates = await openServerCertificates(certificateOptions);
    const signingKeys = new SigningKeys(certificates.serviceAccountKeyPem);
    let address = `${options.host}:${options.port}`;
    const encryption = await openEncryption({ store, files, random: systemRandom });
    const observed = observation({
      store,
      clock: systemClock,
      random: systemRandom,
      logger,
      dataDir,
      auditPolicy,
    });
    const upstream = lifetime.add(new HttpsUpstream(certificates.frontProxyClient));
    const webhooks = lifetime.add(new HttpsWebhookClient());
    const { environment = {} } = options;
    const server: OpenApiServer = await openApiServer({
      ...observed.serverOptions,
      transformers: encryption.transformers,
      upstream,
      backends: new HostBackends(),
      webhookClient: webhooks.call,
      extensions: featureExtensions({
        handle: (request) => server.handle(request),
        environment,
        host,
        clock: systemClock,
        random: systemRandom,
      }),
      admission: { defaultAccountWaitMs },
      store: observed.store,
      clock: systemClock,
      random: systemRandom,
      logger,
      clientAuthority: certificates.authority.certificatePem,
      frontProxyAuthority: certificates.frontProxyAuthority.certificatePem,
      signingKeys,
      issuers: [issuer],
      audiences: [issuer],
      serverAddress: () => address,
      version: serverVersion(),
    });
    observed.attach({ server, certificates, capabilities: () => host.capabilities() });
    lifetime.add(resealInBackground(encryption, logger));
    const http = new HttpServer({ handler: server.handle, clock: systemClock, tls: tlsOf(certificates) });
    const bound = await http.listen(options.host, options.port);
    address = `${urlHost(options.host)}:${bound.port}`;
    host.workloads.reachServerAt(address);
    const url = `https://${address}`;
    const kubeconfigPath = join(dataDir, 'kubeconfig');
    await writeKubeconfig(dataDir, url, certificates);
    lifetime.add(
      new CertificateRenewal(certificates, {
        ...certificateOptions,
        logger,
        async onRenewed(renewed) {
          http.replaceTls(tlsOf(renewed));
          observed.attach({ certificates: renewed });
          await writeKubeconfig(dataDir, url, renewed);
        },
      }),
    );
    const controllers = await startControllers({
      handle: server.handle,
      views: server.stores,
      clock: systemClock,
      random: systemRandom,
      logger,
      facts: controlPlaneFacts({ host: options.host, port: bound.port, url, certificates }),
      apiServer: apiServerFor(options.host, bound.port),
      signingKeys,
      authority: certificates.authority,
      environment,
      host,
    }).catch(async (error: unknown) => {
      await http.close(0);
      server.close();
      throw error;
    });
    observed.attach({
      controllers: () => controllers.manager.controllers,
      unservedKinds: controllers.unservedKinds,
    });
    return {
      url,
      kubeconfigPath,
      host,
      async stop() {
        observed.stopping();
        lifetime.dispose();
        await controllers.stop();
        await http.close(stopGraceMs);
        server.close();
        await host.close();
        await observed.close();
        await store.close();
      },
    };
  } catch (error) {
    lifetime.dispose();
    await host.close();
    await store.close();
    throw error;
  }
}

function tlsOf({ serving, authority }: ServerCertificates): { key: string; cert: string; ca: string } {
  return { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem };
}

/** IPv6 addresses stand in brackets; "any address" is reached over the loopback. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

async function writeKubeconfig(
  directory: string,
  server: string,
  { authority, admin }: ServerCertificates,
): Promise<void> {
  const text = kubeconfigText({
    server,
    authorityPem: authority.certificatePem,
    clusterName: 'sheaf',
    credentials: { certificatePem: admin.certificatePem, privateKeyPem: admin.privateKeyPem },
  });
  await new DirectoryCertificateFiles(directory).write('kubeconfig', text);
}
