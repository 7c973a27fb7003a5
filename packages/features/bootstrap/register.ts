import type { KubeObject } from '@sheaf/api';
import { type Logger, toError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { done, keyOf, type Manager } from '@sheaf/runtime';
import {
  type ControlPlaneFacts,
  type Desired,
  desiredAuthentication,
  desiredClusterInfo,
  desiredEndpoints,
  desiredNamespace,
  desiredPriorityClasses,
  desiredService,
  desiredServiceCidr,
  systemNamespaces,
} from './desired.ts';
import { desiredFlowControl } from './flow-control.ts';
import { ensure, type PolicyWrite, writePolicy } from './reconcile.ts';

export type { ControlPlaneFacts, PolicyWrite };

export interface BootstrapOptions {
  readonly logger: Logger;
  readonly facts: ControlPlaneFacts;
  /** The writes that bring the default roles and bindings up to date; asked for once the namespaces are there. */
  readonly planPolicy: () => Promise<readonly PolicyWrite[]>;
}

/**
 * Makes everything that clients expect of any control plane; idempotent. Done before the server says it is ready. Without
 * its namespaces it cannot be used, so that fails; what else is refused is told, and tried again at the next start.
 */
export async function bootstrap(client: Client, options: BootstrapOptions): Promise<void> {
  await settled(systemNamespaces.map((name) => ensure(client, desiredNamespace(name))));
  const writes = await options.planPolicy();
  await Promise.all([
    ...writes.map((write) =>
      reported(writePolicy(client, write), `${write.resource} ${keyOf(write.object)}`, options.logger),
    ),
    ...allDesired(options.facts).map((desired) =>
      reported(ensure(client, desired), keyIn(desired.resource, desired.object), options.logger),
    ),
  ]);
}

/** Waits for all, then fails if one of them did: nothing is left running behind a failure. */
async function settled(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

async function reported(work: Promise<void>, object: string, logger: Logger): Promise<void> {
  try {
    await work;
  } catch (error) {
    const message = 'an object that every control plane has could not be written';
    logger.error(message, { object, cause: toError(error) });
  }
}

/** Keeps what was made at start: it is made again when someone removes or changes it. */
export function register(manager: Manager, { facts }: Pick<BootstrapOptions, 'facts'>): void {
  const kept = [...systemNamespaces.map((name) => desiredNamespace(name)), ...allDesired(facts)];
  const byKey = new Map(kept.map((desired) => [keyIn(desired.resource, desired.object), desired]));
  const controller = manager.controller({
    name: 'bootstrap',
    async reconcile(key, signal) {
      const desired = byKey.get(key);
      if (desired) await ensure(manager.client, desired, signal);
      return done;
    },
  });
  for (const { resource, object } of kept.filter((desired) => isWatched(desired))) {
    const { namespace = '', name = '' } = object.metadata;
    const selection = { fieldSelector: `metadata.name=${name}`, namespace };
    controller.watchMapped(manager.informer(resource, selection), (seen) => [keyIn(resource, seen)]);
  }
  controller.watchMapped(manager.informer(resources.namespaces), (seen) => {
    const key = keyIn(resources.namespaces, seen);
    return byKey.has(key) ? [key] : [];
  });
}

function allDesired(facts: ControlPlaneFacts): readonly Desired[] {
  return [
    ...desiredPriorityClasses,
    ...desiredFlowControl(),
    desiredServiceCidr(facts),
    desiredService(facts),
    ...desiredEndpoints(facts),
    desiredAuthentication(facts),
    desiredClusterInfo(facts),
  ];
}

/** What programs would miss at once. The rest is looked at when the control plane starts. */
function isWatched({ object }: Desired): boolean {
  return object.metadata.namespace !== undefined;
}

function keyIn(resource: ResourceRef, object: Pick<KubeObject, 'metadata'>): string {
  return `${resource.plural} ${keyOf(object)}`;
}
