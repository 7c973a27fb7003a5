import type { ApiHandler } from '@sheaf/apiserver';
import { isInScopes, scopesOf } from '@sheaf/apiserver/admission/quota-scopes';
import { usageOf } from '@sheaf/apiserver/admission/quota-usage';
import { legacyClaims, type SigningKeys } from '@sheaf/apiserver/authentication/index';
import { aggregateRules, loadBootstrapPolicy, planBootstrap } from '@sheaf/apiserver/authorization/index';
import { type Authority, signRequest } from '@sheaf/apiserver/certificates/index';
import { readSigningRequest } from '@sheaf/apiserver/certificates/signing-request';
import { type Clock, type Logger, type Random, toError } from '@sheaf/base';
import { Client, inProcessTransport } from '@sheaf/client';
import { bootstrap, type ControlPlaneFacts, register as registerBootstrap } from '@sheaf/features/bootstrap';
import {
  type CertificateSigningOptions,
  register as registerCertificateSigning,
} from '@sheaf/features/certificate-signing';
import { register as registerClusterRoleAggregation } from '@sheaf/features/cluster-role-aggregation';
import { register as registerCustomResource } from '@sheaf/features/custom-resource';
import { register as registerDisruptionBudget } from '@sheaf/features/disruption-budget';
import { register as registerEventExpiry } from '@sheaf/features/event-expiry';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { register as registerKeyPair } from '@sheaf/features/key-pair';
import {
  type DefinitionKeeper,
  installKinds,
  register as registerKinds,
} from '@sheaf/features/kind-definitions';
import { register as registerNamespace } from '@sheaf/features/namespace';
import { register as registerResourceQuota } from '@sheaf/features/resource-quota';
import { register as registerServiceAccount } from '@sheaf/features/service-account';
import { register as registerServiceAddress } from '@sheaf/features/service-address';
import { installSettings, register as registerSetting, type SettingOptions } from '@sheaf/features/setting';
import { register as registerTemplate } from '@sheaf/features/vm-template';
import type { ProxyBackend } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import { controllersUser, systemGroups } from './controllers-user.ts';
import { registerMachineControllers } from './machine-controllers.ts';
import type { MachineHost } from './machine-host.ts';
import { installStorage, registerStorageControllers } from './storage-controllers.ts';
import { installAddons, registerWorkloadControllers } from './workload-controllers.ts';

export interface ControllersOptions extends SettingOptions {
  readonly handle: ApiHandler;
  /** The server's own memory of its objects, for planning the default roles. */
  readonly views: Parameters<typeof planBootstrap>[1];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly facts: ControlPlaneFacts;
  /** Where pods of this host are led to the API server. */
  readonly apiServer: ProxyBackend | undefined;
  readonly signingKeys: SigningKeys;
  /** Runs the virtual machines and the pods. */
  readonly host: MachineHost;
  /** Signs the certificates that are asked for by CertificateSigningRequests. */
  readonly authority: Authority;
}

export interface Controllers {
  readonly manager: Manager;
  /** Why kinds that this release brings along are not served, by the name of their definition. */
  readonly unservedKinds: ReadonlyMap<string, string>;
  /** Ends all passes and watches. */
  stop(): Promise<void>;
}

/** How long the server's start waits for its kinds on the busiest host; without them it serves everything else. */
const kindsBoundMs = 100_000;
/** Likewise for its settings. */
const settingsBoundMs = 5000;
/** Likewise for its storage classes. */
const storageBoundMs = 5000;
/** Likewise for the add-ons that come with it. */
const addonsBoundMs = 5000;

/** Makes what every control plane has, then starts the controllers. Resolves when the first part is done. */
export async function startControllers(options: ControllersOptions): Promise<Controllers> {
  const { handle, clock, random, facts } = options;
  const logger = options.logger.with({ part: 'controllers' });
  const serverTransport = inProcessTransport(handle, { name: 'system:apiserver', groups: systemGroups });
  await bootstrap(new Client({ transport: serverTransport, userAgent: 'kube-apiserver/sheaf' }), {
    facts,
    logger,
    planPolicy: async () => planBootstrap(await loadBootstrapPolicy(), options.views),
  });
  serverTransport.close();
  const transport = inProcessTransport(handle, controllersUser);
  const client = new Client({ transport, userAgent: 'kube-controller-manager/sheaf' });
  const manager = new Manager({ client, clock, random, logger });
  const keeper = await installKinds(client, { clock, logger, boundMs: kindsBoundMs });
  await installSettings({ client, clock, logger, environment: options.environment }, settingsBoundMs);
  await installStorage(client, { clock, logger, boundMs: storageBoundMs });
  await installAddons(client, { clock, logger, boundMs: addonsBoundMs });
  registerAll(manager, keeper, options);
  const started = manager
    .start()
    .catch((error: unknown) =>
      logger.error('the controllers could not be started', { cause: toError(error) }),
    );
  return {
    manager,
    unservedKinds: keeper.problems,
    async stop() {
      transport.close();
      await manager.stop();
      await started;
    },
  };
}

function registerAll(manager: Manager, keeper: DefinitionKeeper, options: ControllersOptions): void {
  const { facts, signingKeys } = options;
  registerKinds(manager, keeper);
  registerBootstrap(manager, { facts });
  registerSetting(manager, options);
  registerKeyPair(manager);
  registerTemplate(manager);
  registerStorageControllers(manager, { host: options.host, address: uploadAddress(facts) });
  registerMachineControllers(manager, options.host);
  registerWorkloadControllers(manager, options.host, options.apiServer);
  registerNamespace(manager);
  registerGarbageCollection(manager);
  registerCustomResource(manager);
  registerClusterRoleAggregation(manager, { aggregate: aggregateRules });
  registerCertificateSigning(manager, signer(options));
  registerEventExpiry(manager);
  registerDisruptionBudget(manager);
  registerResourceQuota(manager, {
    measure: { usageOf, isInScopes: (quota, pod) => isInScopes(pod, scopesOf(quota)) },
  });
  registerServiceAddress(manager, { network: facts.serviceNetwork });
  registerServiceAccount(manager, {
    authority: facts.authority,
    issueToken: ({ secretName, ...account }) =>
      Promise.resolve(signingKeys.sign(legacyClaims(account, secretName))),
  });
}

/** Where other machines reach this server, if they do. */
function uploadAddress({ endpoint, url, authority }: ControlPlaneFacts): { url: string; authority: string } {
  return { url: endpoint ? `https://${endpoint.address}:${endpoint.port}` : url, authority };
}

function signer({ authority, clock, random }: ControllersOptions): CertificateSigningOptions {
  return {
    sign({ requestPem, ...order }) {
      const issuer = { issuer: authority, issuerNotAfter: authority.notAfter, now: clock.now(), random };
      return Promise.resolve(signRequest(requestPem, { ...order, ...issuer }));
    },
    readContent(requestPem) {
      try {
        return readSigningRequest(requestPem);
      } catch {
        // Whatever it is, it is no kubelet's request.
        return undefined;
      }
    },
  };
}
