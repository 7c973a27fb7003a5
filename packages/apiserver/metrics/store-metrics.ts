import type { Clock, Distribution, MetricsRegistry } from '@sheaf/base';
import { type Store, StoreFault } from '@sheaf/store';
import type { HealthCheck } from '../health/health-checks.ts';
import type { ResourceStore } from '../storage/resource-store.ts';

/** Seconds. */
const buckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export interface MeasuredStore {
  /** The same store, with the time of its commits told to the metrics. */
  readonly store: Store;
  /** For readiness: fails when the newest commit failed because of the disk. */
  readonly check: HealthCheck;
}

export function measuredStore(store: Store, metrics: MetricsRegistry, clock: Clock): MeasuredStore {
  const durations = metrics
    .histogram({
      name: 'sheaf_store_commit_duration_seconds',
      help: 'Time from the wish to write until the write is on disk.',
      buckets,
    })
    .of();
  const state: CommitState = { durations, clock, fault: undefined };
  const measured: Store = {
    get revision() {
      return store.revision;
    },
    get compactedRevision() {
      return store.compactedRevision;
    },
    commit: (write) => timedCommit(store.commit(write), state),
    get: (key) => store.get(key),
    range: (query) => store.range(query),
    watch: (query, listener) => store.watch(query, listener),
    compact: (revision) => store.compact(revision),
    size: () => store.size(),
    backup: (path) => store.backup(path),
    close: () => store.close(),
  };
  const check = {
    name: 'store',
    check: () => state.fault && `${state.fault.message}. ${state.fault.wayOut}`,
  };
  return { store: measured, check };
}

interface CommitState {
  readonly durations: Distribution;
  readonly clock: Clock;
  fault: StoreFault | undefined;
}

async function timedCommit(commit: Promise<number>, state: CommitState): Promise<number> {
  const begun = state.clock.monotonic();
  try {
    const revision = await commit;
    state.fault = undefined;
    return revision;
  } catch (error) {
    if (error instanceof StoreFault) state.fault = error;
    throw error;
  } finally {
    state.durations.observe((state.clock.monotonic() - begun) / 1000);
  }
}

/** What is in the store, and where it stands. */
export function addStorageMetrics(
  metrics: MetricsRegistry,
  store: Store,
  stores: () => Iterable<ResourceStore>,
): void {
  const objects = metrics.gauge({
    name: 'apiserver_storage_objects',
    help: 'Objects kept, of the resources that are in memory.',
    labels: ['resource'],
  });
  const revision = metrics.gauge({ name: 'sheaf_store_revision', help: 'The newest durable revision.' });
  const compacted = metrics.gauge({
    name: 'sheaf_store_compacted_revision',
    help: 'The oldest revision from which a watch can still begin.',
  });
  metrics.onCollect(() => {
    for (const item of stores()) {
      if (item.isLoaded)
        objects.of(item.group === '' ? item.plural : `${item.plural}.${item.group}`).set(item.size);
    }
    revision.of().set(store.revision);
    compacted.of().set(store.compactedRevision);
  });
}

/** Asked by `/metrics` alone, as it reads the store. */
export async function updateStoreSize(
  store: Store,
  set: (name: StoreSizeName, value: number) => void,
): Promise<void> {
  const size = await store.size();
  set('live_bytes', size.liveBytes);
  set('history_bytes', size.historyBytes);
  set('keys', size.keys);
  set('revisions', size.revisions);
}

export type StoreSizeName = 'live_bytes' | 'history_bytes' | 'keys' | 'revisions';
