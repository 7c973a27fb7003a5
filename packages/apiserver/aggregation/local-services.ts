import { type KubeObject, toApiVersion } from '@sheaf/api';
import { type Clock, type Disposable, DisposableStore, type Logger, type Random, toError } from '@sheaf/base';
import { RevisionConflict } from '@sheaf/store';
import { compareVersions } from '../discovery/version-priority.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import type { LiveView } from '../storage/live-view.ts';
import type { ResourceStore } from '../storage/resource-store.ts';
import type { ResourceStores } from '../storage/resource-stores.ts';
import { timestamp } from '../verbs/write-parts.ts';

export interface LocalServicesOptions {
  readonly registry: ResourceRegistry;
  readonly stores: ResourceStores;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  /** Built-in ones are there from the start; those of custom resources go with them. */
  readonly isBuiltin: boolean;
  /** Rank of the version in its group, the best highest. */
  readonly versionPriority: number;
}

const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';
const builtinGroupPriority = 17_000;
const customGroupPriority = 1000;

/**
 * Keeps an APIService for each group version that this server serves itself, so that `kubectl get apiservices` shows
 * the whole API. A service that someone else wrote under the name is left alone.
 */
export class LocalServices implements Disposable {
  readonly #options: LocalServicesOptions;
  readonly #store: ResourceStore;
  readonly #view: LiveView;
  readonly #lifetime = new DisposableStore();
  #last: Promise<void> = Promise.resolve();
  #isQueued = false;

  constructor(options: LocalServicesOptions) {
    this.#options = options;
    this.#store = options.stores.storeOf('apiregistration.k8s.io', 'apiservices');
    this.#view = options.stores.of('apiregistration.k8s.io', 'apiservices');
  }

  start(): void {
    this.#lifetime.add(this.#options.registry.onChange(() => this.#enqueue()));
    this.#enqueue();
  }

  /** Resolves when every change so far is written. */
  settled(): Promise<void> {
    return this.#last;
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  #enqueue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#last = this.#last
      .then(() => {
        this.#isQueued = false;
        return this.#reconcile();
      })
      .catch((error: unknown) =>
        this.#options.logger.error('local API services could not be written', { cause: toError(error) }),
      );
  }

  async #reconcile(): Promise<void> {
    const wanted = new Map(groupVersions(this.#options.registry).map((item) => [serviceName(item), item]));
    const missing = [...wanted].filter(([name]) => !this.#view.get('', name));
    const obsolete = this.#view
      .list()
      .filter((service) => isManaged(service) && !wanted.has(service.metadata.name ?? ''));
    await Promise.all([
      ...missing.map(([name, item]) => this.#create(name, item)),
      ...obsolete.map((service) =>
        this.#store.change({ namespace: '', name: service.metadata.name ?? '' }, () => ({ remove: true })),
      ),
    ]);
  }

  async #create(name: string, item: GroupVersion): Promise<void> {
    const { clock, random } = this.#options;
    try {
      await this.#store.create(
        { namespace: '', name },
        localService(name, item, { uid: random.uuid(), now: timestamp(clock) }),
      );
    } catch (error) {
      // Someone registered it meanwhile; theirs stays.
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

function isManaged(service: KubeObject): boolean {
  return managedLabel in (service.metadata.labels ?? {});
}

function serviceName({ group, version }: GroupVersion): string {
  return `${version}.${group}`;
}

function groupVersions(registry: ResourceRegistry): GroupVersion[] {
  const found = new Map<string, { group: string; version: string; isBuiltin: boolean }>();
  for (const { group, version } of registry.extensions.groups)
    found.set(toApiVersion(group, version), { group, version, isBuiltin: false });
  for (const { group, version, isBuiltin } of registry.all())
    found.set(toApiVersion(group, version), { group, version, isBuiltin });
  const all = [...found.values()];
  return all.map((item) => {
    const better = all.filter(
      (other) => other.group === item.group && compareVersions(other.version, item.version) < 0,
    ).length;
    return { ...item, versionPriority: Math.max(1, (item.isBuiltin ? 15 : 100) - better) };
  });
}

function localService(
  name: string,
  item: GroupVersion,
  { uid, now }: { uid: string; now: string },
): KubeObject {
  const { group, version, isBuiltin, versionPriority } = item;
  const groupPriorityMinimum =
    group === '' ? builtinGroupPriority + 1000 : isBuiltin ? builtinGroupPriority : customGroupPriority;
  const reason = { reason: 'Local', message: 'Local APIServices are always available' };
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: {
      name,
      uid,
      creationTimestamp: now,
      labels: { [managedLabel]: isBuiltin ? 'onstart' : 'true' },
    },
    spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum, versionPriority },
    status: { conditions: [{ type: 'Available', status: 'True', lastTransitionTime: now, ...reason }] },
  };
}
