import { availableParallelism } from 'node:os';
import type { Capability, HypervisorCapabilities } from '@sheaf/ports';
import type { Accelerator } from './accelerator-probe.ts';
import type { HostPrograms } from './host-programs.ts';

/** A start is the making of a process, which mostly waits; what the guest does then is no part of it. */
const startsPerCore = { kvm: 8, tcg: 4 } as const;

export function unknownCapabilities(): HypervisorCapabilities {
  const unknown = missing('it has not been looked at yet', 'wait for the first probe');
  return {
    hypervisor: unknown,
    accelerator: { kind: 'tcg', reason: unknown.reason },
    machineTypes: [],
    cpuModels: [],
    efi: unknown,
    secureBoot: unknown,
    tpm: unknown,
    bridges: unknown,
    podNetworkOutside: unknown,
    cpuHotplug: unknown,
    cpuHotUnplug: unknown,
    memoryHotplug: unknown,
    liveMigration: unknown,
    parallelStarts: 1,
  };
}

/** What follows from what is installed, and what was found by trying. */
export function capabilitiesOf(
  programs: HostPrograms,
  accelerator: Accelerator,
  tried: Pick<HypervisorCapabilities, 'bridges' | 'podNetworkOutside'>,
): HypervisorCapabilities {
  const { emulator } = programs;
  if (!emulator) {
    const hypervisor = missing('qemu-system-x86_64 is not installed', 'apt-get install qemu-system-x86');
    return { ...unknownCapabilities(), hypervisor };
  }
  return {
    hypervisor: available(`QEMU ${emulator.version} (${emulator.path})`),
    accelerator,
    machineTypes: programs.machineTypes,
    cpuModels: programs.cpuModels,
    efi: programs.efi
      ? available(programs.efi.codePath)
      : missing('no EFI firmware is installed', 'apt-get install ovmf'),
    secureBoot: programs.secureEfi
      ? available(programs.secureEfi.codePath)
      : missing('no EFI firmware with Secure Boot is installed', 'apt-get install ovmf'),
    tpm: programs.tpmEmulator
      ? available(programs.tpmEmulator)
      : missing('swtpm is not installed', 'apt-get install swtpm'),
    ...tried,
    cpuHotplug: available('processors are added by the socket'),
    cpuHotUnplug: missing(
      'QEMU may abort when a processor is taken away',
      'restart the machine with fewer processors',
    ),
    memoryHotplug: available('where the machine was started with a maximum above its memory'),
    liveMigration: missing('there is one host', 'stop the machine instead'),
    parallelStarts: availableParallelism() * startsPerCore[accelerator.kind],
  };
}

export function available(reason: string): Capability {
  return { isAvailable: true, reason };
}

export function missing(reason: string, wayOut: string): Capability {
  return { isAvailable: false, reason, wayOut };
}
