import { overcommitConfig, readSetting } from '@sheaf/api/setting/index';
import { gitVersion } from '@sheaf/apiserver/health/index';
import { resources } from '@sheaf/client';
import { register as registerNode } from '@sheaf/features/node';
import { registerAccess, registerInstances, registerMachines } from '@sheaf/features/vm';
import { register as registerBackups } from '@sheaf/features/vm-backup';
import type { Manager } from '@sheaf/runtime';
import type { MachineHost } from './machine-host.ts';
import { serverVersion } from './version.ts';

/** The controllers of this node and of virtual machines, with the host as their world. */
export function registerMachineControllers(manager: Manager, host: MachineHost): void {
  const { hypervisor, volumes, memories, nodeName } = host;
  const settings = manager.informer(resources.settings);
  host.overCommitStorage(
    () => readSetting(overcommitConfig, settings.cache.get(overcommitConfig.name)).storage / 100,
  );
  registerNode(manager, {
    host: host.facts,
    hypervisor,
    containers: () => host.workloads.nodeContainers(),
    nodeName,
    version: gitVersion(serverVersion()),
  });
  registerAccess(manager);
  registerMachines(manager, {
    volumes,
    abilities: () => {
      const { cpuHotplug, memoryHotplug } = hypervisor.capabilities();
      return { canAddSockets: cpuHotplug.isAvailable, canAddMemory: memoryHotplug.isAvailable };
    },
    forgetPersistent: (machineUid, signal) => hypervisor.forgetPersistent(machineUid, signal),
  });
  registerInstances(manager, {
    hypervisor,
    volumes,
    files: host.files,
    memories,
    containers: { disks: host.containerDisks, volumes },
    nodeName,
    memoryBytes: () => host.memoryBytes,
    hasBridge: (name) => host.hasBridge(name),
  });
  registerBackups(manager, { memories, hypervisor });
}
