import type { OwnerReference } from '@sheaf/api';
import type { ServedResource } from '@sheaf/client';
import { EventRecorder, type Manager } from '@sheaf/runtime';
import { Monitors } from './monitors.ts';
import { type GraphNode, OwnerGraph } from './owner-graph.ts';
import { OwnerJudge, type PlantedFaults } from './owner-judge.ts';
import { Collector } from './reconcile.ts';

export type { PlantedFaults } from './owner-judge.ts';

export interface GarbageCollectionOptions {
  /** Objects worked on at once. */
  readonly concurrency?: number;
  /** Which resources are collected; all if absent. */
  readonly isMonitored?: (resource: ServedResource) => boolean;
  /** For tests of tests. */
  readonly planted?: PlantedFaults;
}

const usualConcurrency = 64;

/** Deletes what has owners, all of which are gone; does what deletions in the foreground and orphaning ones wait for. */
export function register(manager: Manager, options: GarbageCollectionOptions = {}): void {
  const { concurrency = usualConcurrency, isMonitored = () => true, planted = {} } = options;
  const graph = new OwnerGraph();
  const events = new EventRecorder({ ...partsOf(manager), component: 'garbage-collector-controller' });
  const look = (uid: string): void => controller.queue.add(uid);
  const monitors = new Monitors({ manager, graph, judge: () => judge, look, isMonitored });
  const judge = new OwnerJudge({
    client: manager.client,
    graph,
    kinds: () => monitors.kinds,
    planted,
    onForeignOwner: (node, reference) => reportForeignOwner(events, node, reference),
  });
  const collector = new Collector({
    client: manager.client,
    graph,
    judge,
    planted,
    collected: (signal) => monitors.collected(signal),
  });
  const controller = manager.controller({
    name: 'garbage-collection',
    concurrency,
    reconcile: (uid, signal) => collector.reconcile(uid, signal),
    // Half a picture would let objects go before what they own.
    ready: () => monitors.start(),
  });
  manager.add({ start: () => Promise.resolve(), stop: () => monitors.stop() });
}

function partsOf({
  client,
  clock,
  random,
  logger,
}: Manager): Pick<Manager, 'client' | 'clock' | 'random' | 'logger'> {
  return { client, clock, random, logger };
}

function reportForeignOwner(events: EventRecorder, node: GraphNode, reference: OwnerReference): void {
  const { apiVersion, kind, name, uid } = reference;
  const owner = `[${apiVersion}/${kind}, namespace: ${node.namespace}, name: ${name}, uid: ${uid}]`;
  events.record({
    about: { resource: node.resource, namespace: node.namespace, name: node.name, uid: node.uid },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${owner} does not exist in namespace ${JSON.stringify(node.namespace)}`,
  });
}
