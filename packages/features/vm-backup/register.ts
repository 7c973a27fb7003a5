import type { ApiExtensions } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { EventRecorder, keyOf, type Manager } from '@sheaf/runtime';
import { backupRule } from './backup-admission.ts';
import { reconcileBackup } from './reconcile.ts';
import { reconcileRestore } from './reconcile-restore.ts';
import { restoreRule } from './restore-admission.ts';

/** The rules of writing snapshots of machines and their restores. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(backupRule);
  api.addAdmission(restoreRule);
}

/** Snapshots of whole machines, and what is restored from them. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const component = 'harvester-vm-restore-controller';
  const recorder = new EventRecorder({ client, clock, random, logger, component });
  const backups = manager.informer(resources.virtualMachineBackups);
  const restores = manager.informer(resources.virtualMachineRestores);
  const machines = manager.informer(resources.virtualMachines);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const snapshots = manager.informer(resources.volumeSnapshots);
  const instances = manager.informer(resources.virtualMachineInstances);
  const parts = {
    client,
    clock,
    recorder,
    backups: backups.cache,
    restores: restores.cache,
    machines: machines.cache,
    claims: claims.cache,
    snapshots: snapshots.cache,
    instances: instances.cache,
  };
  const unstarted = (namespace: string | undefined): readonly string[] =>
    backups.cache
      .list(namespace ?? '')
      .filter(({ status }) => status?.source === undefined)
      .map(keyOf);
  const unrestored = (namespace: string | undefined): readonly string[] =>
    restores.cache
      .list(namespace ?? '')
      .filter(({ status }) => status?.complete !== true)
      .map(keyOf);
  manager
    .controller({ name: 'vm-backup', reconcile: (key, signal) => reconcileBackup(parts, key, signal) })
    .watch(backups)
    .watchMapped(snapshots, ({ metadata }) =>
      backups.cache
        .list(metadata.namespace ?? '')
        .filter(({ status }) => status?.volumeBackups?.some(({ name }) => name === metadata.name))
        .map(keyOf),
    )
    .watchMapped(machines, ({ metadata }) => unstarted(metadata.namespace))
    .watchMapped(claims, ({ metadata }) => unstarted(metadata.namespace));
  manager
    .controller({ name: 'vm-restore', reconcile: (key, signal) => reconcileRestore(parts, key, signal) })
    .watch(restores)
    .watchMapped(backups, ({ metadata }) =>
      restores.cache
        .list()
        .filter(
          ({ spec }) =>
            spec.virtualMachineBackupName === metadata.name &&
            spec.virtualMachineBackupNamespace === metadata.namespace,
        )
        .map(keyOf),
    )
    .watchMapped(machines, ({ metadata }) => unrestored(metadata.namespace))
    .watchMapped(instances, ({ metadata }) => unrestored(metadata.namespace))
    .watchMapped(claims, ({ metadata }) => unrestored(metadata.namespace));
}
