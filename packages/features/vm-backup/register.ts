import type { ApiExtensions } from '@sheaf/api';
import { DisposableStore } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { Hypervisor, MachineMemories } from '@sheaf/ports';
import { again, EventRecorder, keyOf, type Manager } from '@sheaf/runtime';

import { backupRule } from './backup-admission.ts';
import { sweepMemories } from './memory-sweep.ts';
import { reconcileBackup } from './reconcile.ts';
import { reconcileRestore } from './reconcile-restore.ts';
import { restoreRule } from './restore-admission.ts';

/** The rules of writing snapshots of machines and their restores. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(backupRule);
  api.addAdmission(restoreRule);
}

export interface BackupOptions {
  /** Where the memory of machines is that was kept with their snapshots. */
  readonly memories: Pick<MachineMemories, 'list' | 'remove'>;
  readonly hypervisor: Pick<Hypervisor, 'list'>;
}

const sweepMs = 600_000;
/** How often it is looked whether what was still written to can go. */
const sweepAgainMs = 5000;

/** Snapshots of whole machines, and what is restored from them. */
export function register(manager: Manager, options: BackupOptions): void {
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
    .watchMapped(claims, ({ metadata }) => unstarted(metadata.namespace))
    .watchMapped(instances, ({ metadata }) => unstarted(metadata.namespace));
  const sweep = manager.controller({
    name: 'vm-memory',
    async reconcile(_key, signal) {
      const isClean = await sweepMemories({ ...options, client }, signal);
      return again(isClean ? sweepMs : sweepAgainMs);
    },
  });
  sweep.watchMapped(backups, () => []).queue.add('all');
  const lifetime = new DisposableStore();
  lifetime.add(
    backups.onChange(({ object }) => {
      if (!object) sweep.queue.add('all');
    }),
  );
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
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
