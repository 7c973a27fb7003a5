import { type Disposable, DisposableStore } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { ProxyBackend, ServiceProxy } from '@sheaf/ports';
import { EventRecorder, type Manager, type RecordedEvent } from '@sheaf/runtime';
import { reconcileProxy } from './reconcile.ts';

export interface ProxyHost {
  /** Before it, what an earlier life has made stays as it is: parts of this process are not known yet. */
  readonly ready: () => Promise<void>;
  readonly proxy: ServiceProxy;
  readonly nodeName: string;
  /** Tells when pods of this host come or go: their network comes with the first and goes with the last. */
  readonly onPodChange: (listener: () => void) => Disposable;
  /** Services that this process answers itself, by `NAMESPACE/NAME`: where it listens. */
  readonly parts: () => ReadonlyMap<string, ProxyBackend>;
}

const key = 'services';

/** Makes Services reachable from this host and its pods. What is reachable stays so when this ends, as long as pods run. */
export function register(manager: Manager, host: ProxyHost): void {
  const { client, clock, random, logger } = manager;
  const { proxy } = host;
  const services = manager.informer(resources.services);
  const slices = manager.informer(resources.endpointSlices);
  const pods = manager.informer(resources.pods);
  const nodes = manager.informer(resources.nodes);
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'kube-proxy' });
  const told = new Map<string, string>();
  const parts = {
    ...host,
    services: services.cache,
    slices: slices.cache,
    pods: pods.cache,
    nodes: nodes.cache,
    tell(about: string, event: RecordedEvent | undefined) {
      const before = told.get(about);
      if (!event) return void told.delete(about);
      told.set(about, event.message);
      if (before !== event.message) recorder.record(event);
    },
  };
  const controller = manager
    .controller({
      name: 'service-proxy',
      ready: host.ready,
      reconcile: (_, signal) => reconcileProxy(parts, signal),
    })
    .watchMapped(services, () => [key])
    .watchMapped(slices, () => [key])
    .watchMapped(pods, () => [])
    .watchMapped(nodes, () => []);
  const lifetime = new DisposableStore();
  const lookAgain = (): void => controller.queue.add(key);
  manager.add({
    start() {
      lifetime.add(host.onPodChange(lookAgain));
      lookAgain();
      return Promise.resolve();
    },
    async stop() {
      lifetime.dispose();
      await proxy.release(new AbortController().signal);
      proxy.dispose();
    },
  });
}
