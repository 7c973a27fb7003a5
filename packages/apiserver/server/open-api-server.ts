import { ExtensionSet } from '@sheaf/api';
import { type Clock, DisposableStore, type Logger, type MetricsRegistry, type Random } from '@sheaf/base';
import type { Store } from '@sheaf/store';
import { AdmissionChain } from '../admission/chain.ts';
import { type AdmissionOptions, admissionPlugins, RegistryKinds } from '../admission/index.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import { aggregationDelegate, LocalServices, RemoteServices } from '../aggregation/index.ts';
import { escalationPlugin, nodeRestriction } from '../authorization/index.ts';
import { discoveryPaths } from '../discovery/discovery-paths.ts';
import type { ConnectionParts } from '../extension/connection-admission.ts';
import { admissionRules, extensionDelegate, routeFinder, ServedExtensions } from '../extension/index.ts';
import { FlowClassifier } from '../flow-control/flow-classifier.ts';
import { HealthChecks } from '../health/index.ts';
import { measuredPlugins } from '../metrics/index.ts';
import { openapiPaths } from '../openapi/openapi-paths.ts';
import type { ApiHandler } from '../pipeline/api-request.ts';
import { ApiServer } from '../pipeline/api-server.ts';
import { InFlight } from '../pipeline/in-flight.ts';
import type { PathHandler } from '../pipeline/path-handler.ts';
import { ignoringObserver, type RequestObserver } from '../pipeline/request-observer.ts';
import { ResourceHandler } from '../pipeline/resource-handler.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import { makeBuiltinResources } from '../registry/builtin-resources.ts';
import { versionConversion } from '../registry/custom/conversion.ts';
import { CustomResources } from '../registry/custom/custom-resources.ts';
import { DefinitionStatus } from '../registry/custom/definition-status.ts';
import { ResourceRegistry } from '../registry/resource-registry.ts';
import { customScalePaths, scaleHandler, specialHandlers, workloadScalePaths } from '../special/index.ts';
import type { PodParts } from '../special/pods.ts';
import type { ReviewOptions } from '../special/reviews.ts';
import { Keyspace } from '../storage/keyspace.ts';
import type { LiveViews } from '../storage/live-view.ts';
import { ResourceStores } from '../storage/resource-stores.ts';
import type { Transformer } from '../storage/transformer.ts';
import { builtinColumns } from '../table/builtin-columns.ts';
import { customColumns } from '../table/custom-columns.ts';
import type { BackendProxy, Upstream } from '../upstream/upstream.ts';
import { conversionByWebhook, WebhookCaller, type WebhookClient } from '../webhook/index.ts';
import { type Access, type AccessOptions, openAccess } from './access.ts';
import { type SystemPathOptions, systemPaths } from './system-paths.ts';

export interface ApiServerOptions
  extends Omit<AccessOptions, 'views'>,
    Omit<SystemPathOptions, 'serverAddress'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `host:port` under which clients reach the server. */
  readonly serverAddress: () => string;
  /** By `plural` or `plural.group`: how objects are sealed on disk. */
  readonly transformers?: ReadonlyMap<string, Transformer>;
  readonly observer?: RequestObserver;
  /** How webhooks are called; without it their calls fail. */
  readonly webhookClient?: WebhookClient;
  readonly admission?: Pick<AdmissionOptions, 'serviceSubnet' | 'nodePorts' | 'defaultAccountWaitMs'>;
  /** Where admission tells how long it takes. */
  readonly metrics?: MetricsRegistry;
  /** Bounds the requests that are worked on at once. */
  readonly inFlight?: InFlight;
  /** What `/livez` and `/readyz` ask; the server adds its own checks. */
  readonly health?: HealthChecks;
  /** How aggregated API servers are called; without it their groups are not served. */
  readonly upstream?: Upstream;
  /** How pods and Services are reached by `proxy`; without it every request there says so. */
  readonly backends?: BackendProxy;
  /** What features add to the API; complete when the server is opened. */
  readonly extensions?: Pick<ExtensionSet, 'groups' | 'routes' | 'admission'>;
}

/** An API server without a transport: a function, and what stands behind it. */
export interface OpenApiServer {
  readonly handle: ApiHandler;
  readonly registry: ResourceRegistry;
  readonly stores: ResourceStores;
  readonly keyspace: Keyspace;
  readonly access: Access;
  close(): void;
}

/** Builds the API server on a store and reads what it needs to decide. */
export async function openApiServer(options: ApiServerOptions): Promise<OpenApiServer> {
  const { clock, random, logger, extensions = new ExtensionSet() } = options;
  const keyspace = await Keyspace.open(options.store);
  const lifetime = new DisposableStore();
  lifetime.add({ dispose: () => keyspace.close() });
  const stores = new ResourceStores(keyspace, options.transformers);
  const registry = new ResourceRegistry(new ServedExtensions(extensions.groups));
  registry.add(makeBuiltinResources(stores, builtinColumns));
  const remotes =
    options.upstream &&
    lifetime.add(new RemoteServices({ stores, upstream: options.upstream, clock, logger }));
  const access = openAccess({ ...options, views: stores });
  const caller = new WebhookCaller(stores, options.webhookClient);
  const admission = new AdmissionChain(
    measured(pluginsOf({ ...options, ...access, extensions, views: stores, registry, caller }), options),
  );
  const parts = { clock, random, keyspace, admission, registry };
  const special = handlersOf(parts, { ...options, access, views: stores, issuer: options.issuers[0] ?? '' });
  const resources = new ResourceHandler({ ...parts, special });
  const flows = new FlowClassifier(stores);
  const server = new ApiServer({
    flowOf: (user, info) => flows.classify(user, info),
    clock,
    random,
    logger,
    ...access,
    handleResource: (context) => resources.handle(context),
    delegates: [
      extensionDelegate({ registry, admission, authorizer: access.authorizer }),
      ...aggregationDelegates(remotes, options),
    ],
    findRoute: routeFinder(extensions.routes, access.authorizer),
    paths: pathHandlers({ registry, views: stores, remotes }, options),
    observer: options.observer ?? ignoringObserver,
    inFlight: options.inFlight ?? new InFlight(),
  });
  const convert = conversionByWebhook(caller, random);
  const customResources = lifetime.add(
    new CustomResources({
      registry,
      stores,
      logger,
      columnsOf: customColumns,
      conversionOf: (definition, version) => versionConversion(definition, version, convert),
      onScalable: (resource, version) =>
        special.set(
          specialKey(resource.group, resource.plural, 'scale'),
          scaleHandler(customScalePaths(version), parts),
        ),
    }),
  );
  const definitionStatus = lifetime.add(new DefinitionStatus({ stores, clock, logger }));
  const localServices = lifetime.add(new LocalServices({ registry, stores, clock, random, logger }));
  await stores.loadViews();
  customResources.start();
  definitionStatus.start();
  localServices.start();
  remotes?.start();
  return {
    handle: (request) => server.handle(request),
    registry,
    stores,
    keyspace,
    access,
    close: () => lifetime.dispose(),
  };
}

function aggregationDelegates(
  remotes: RemoteServices | undefined,
  { upstream }: ApiServerOptions,
): readonly ReturnType<typeof aggregationDelegate>[] {
  return remotes && upstream ? [aggregationDelegate(remotes, upstream)] : [];
}

interface PluginOptions extends ApiServerOptions, Access {
  readonly views: LiveViews;
  readonly registry: ResourceRegistry;
  readonly caller: WebhookCaller;
  readonly extensions: NonNullable<ApiServerOptions['extensions']>;
}

function pluginsOf(options: PluginOptions): ReturnType<typeof admissionPlugins> {
  const { clock, random, views, authorizer, rbac, caller, registry } = options;
  return admissionPlugins({
    clock,
    random,
    views,
    authorizer,
    caller,
    kinds: new RegistryKinds(registry),
    nodeRestriction: nodeRestriction({ views, authorizer }),
    escalation: escalationPlugin({ rbac, authorizer }),
    rules: admissionRules(options.extensions.admission, options),
    ...options.admission,
  });
}

function measured(
  plugins: readonly AdmissionPlugin[],
  { metrics, clock }: ApiServerOptions,
): readonly AdmissionPlugin[] {
  return metrics ? measuredPlugins(plugins, metrics, clock) : plugins;
}

/** Handlers of special resources; those for `/scale` of custom resources come and go with them. */
function handlersOf(
  parts: PodParts & ConnectionParts,
  reviews: ReviewOptions & Pick<ApiServerOptions, 'backends'>,
): Map<string, SpecialHandler> {
  const handlers = new Map(specialHandlers(parts, reviews));
  for (const { group, plural, subresources } of parts.registry.all()) {
    if (subresources.has('scale'))
      handlers.set(specialKey(group, plural, 'scale'), scaleHandler(workloadScalePaths, parts));
  }
  return handlers;
}

interface PathParts {
  readonly registry: ResourceRegistry;
  readonly views: LiveViews;
  readonly remotes: RemoteServices | undefined;
}

function pathHandlers(
  { registry, views, remotes }: PathParts,
  options: ApiServerOptions,
): readonly PathHandler[] {
  return [
    openapiPaths({
      registry,
      views,
      clock: options.clock,
      remotes: () => remotes?.openapi() ?? new Map<string, string>(),
    }),
    discoveryPaths({
      registry,
      remotes: () => remotes?.groups() ?? { version: 0, groups: [] },
      serverAddress: options.serverAddress,
    }),
    ...systemPaths(registry, options.health ?? new HealthChecks(), options),
  ];
}
