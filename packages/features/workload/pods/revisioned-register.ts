import type { KubeObject, LabelSelector } from '@sheaf/api';
import { type ResourceRef, resources } from '@sheaf/client';
import {
  type Controller,
  EventRecorder,
  type Informer,
  type Manager,
  type ObjectCache,
  type ReconcileResult,
} from '@sheaf/runtime';
import { OwnedObjects } from './owned-objects.ts';
import { OwnedPods, type PodWording } from './owned-pods.ts';
import { controllerKeys } from './owner-keys.ts';
import { RevisionHistory } from './revision-history.ts';
import type { RevisionedParts } from './revisioned-pass.ts';

type Selecting = KubeObject & { readonly spec: { readonly selector?: LabelSelector } };

export interface RevisionedKind<T extends Selecting> {
  /** Of the controller. */
  readonly name: string;
  /** Who tells events. */
  readonly component: string;
  readonly resource: ResourceRef<T>;
  readonly concurrency?: number;
  /** Where its revisions say which template they are of. */
  readonly hashLabel: string;
  readonly wording?: PodWording;
}

export interface RevisionedSets<T extends Selecting> extends RevisionedParts {
  readonly recorder: EventRecorder;
  readonly sets: ObjectCache<T>;
}

/** A controller of pods whose templates are kept as revisions; it watches its sets, their pods and their revisions. */
export function registerRevisioned<T extends Selecting>(
  manager: Manager,
  { name, component, resource, hashLabel, wording, concurrency = 1 }: RevisionedKind<T>,
  reconcile: (parts: RevisionedSets<T>, key: string, signal: AbortSignal) => Promise<ReconcileResult>,
): { readonly controller: Controller; readonly sets: Informer<T> } {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component });
  const sets = manager.informer(resource);
  const pods = manager.informer(resources.pods);
  const revisions = manager.informer(resources.controllerRevisions);
  const parts = {
    client,
    recorder,
    sets: sets.cache,
    pods: new OwnedPods({ client, clock, recorder, pods, ...(wording && { wording }) }),
    history: new RevisionHistory(new OwnedObjects({ client, clock, informer: revisions }), hashLabel),
  };
  const mine = { kind: resource.kind, owners: sets.cache };
  const controller = manager
    .controller({ name, concurrency, reconcile: (key, signal) => reconcile(parts, key, signal) })
    .watch(sets)
    .watchMapped(pods, (pod) => controllerKeys(pod, mine))
    .watchMapped(revisions, (revision) => controllerKeys(revision, mine));
  return { controller, sets };
}
