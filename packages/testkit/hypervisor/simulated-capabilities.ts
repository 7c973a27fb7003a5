import type { Capability, HypervisorCapabilities } from '@sheaf/ports';

const available: Capability = { isAvailable: true, reason: 'simulated' };

export function simulatedCapabilities(changes: Partial<HypervisorCapabilities> = {}): HypervisorCapabilities {
  return {
    hypervisor: available,
    accelerator: { kind: 'tcg', reason: 'simulated' },
    machineTypes: ['q35', 'pc', 'microvm'],
    cpuModels: ['qemu64', 'max'],
    efi: available,
    secureBoot: available,
    tpm: available,
    bridges: available,
    podNetworkOutside: lacking('the simulated network has no outside'),
    cpuHotplug: available,
    cpuHotUnplug: lacking('processors stay where they are'),
    memoryHotplug: available,
    liveMigration: lacking('there is one host'),
    parallelStarts: 4,
    ...changes,
  };
}

export function beforeTheFirstLook(): HypervisorCapabilities {
  const unknown: Capability = {
    isAvailable: false,
    reason: 'it has not been looked at yet',
    wayOut: 'wait for the first probe',
  };
  return simulatedCapabilities({
    hypervisor: unknown,
    efi: unknown,
    secureBoot: unknown,
    tpm: unknown,
    bridges: unknown,
    cpuHotplug: unknown,
    memoryHotplug: unknown,
    machineTypes: [],
    cpuModels: [],
    parallelStarts: 1,
  });
}

function lacking(reason: string): Capability {
  return { isAvailable: false, reason, wayOut: 'run on a real host' };
}
