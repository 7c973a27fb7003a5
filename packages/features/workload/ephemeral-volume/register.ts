import { identityOf } from '@sheaf/api';
import { claimNamesOf } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { EventRecorder, keyOf, type Manager } from '@sheaf/runtime';
import { reconcileEphemeralVolumes } from './reconcile.ts';

/** Gives pods the claims of their generic ephemeral volumes. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'ephemeral_volume' });
  const pods = manager.informer(resources.pods);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const parts = {
    client,
    pods: pods.cache,
    claims: claims.cache,
    tell: (pod: Parameters<typeof identityOf>[0], message: string): void =>
      recorder.record({
        about: { resource: resources.pods, ...identityOf(pod) },
        type: 'Warning',
        reason: 'FailedBinding',
        message,
      }),
  };
  manager
    .controller({
      name: 'ephemeral-volume',
      reconcile: (key, signal) => reconcileEphemeralVolumes(parts, key, signal),
      ready: () => claims.synced(),
    })
    .watch(pods)
    .watchMapped(claims, ({ metadata }) =>
      pods.cache
        .list(metadata.namespace ?? '')
        .filter((pod) => claimNamesOf(pod).includes(metadata.name ?? ''))
        .map(keyOf),
    );
}
