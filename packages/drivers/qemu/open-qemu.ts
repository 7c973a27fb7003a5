import { join } from 'node:path';
import { type Clock, type Logger, type Random, toError } from '@sheaf/base';
import type { Hypervisor } from '@sheaf/ports';
import { defaultLimits, type MachineHost, type QemuLimits } from './host.ts';
import { HostProbe } from './host-probe.ts';
import { Launcher } from './launcher.ts';
import { MachineCatalog } from './machine-catalog.ts';
import { PersistentState } from './persistent-state.ts';
import { currentBootId } from './process-identity.ts';
import { QemuHypervisor } from './qemu-hypervisor.ts';

export interface QemuOptions {
  /** Where everything is kept: machines, and what outlives them. One Sheaf at a time uses it. */
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `auto`, if absent: KVM where a test guest runs under it. */
  readonly accelerator?: 'auto' | 'kvm' | 'tcg';
  readonly limits?: Partial<QemuLimits>;
  /** Asked of each file that a machine has opened for writing, with its lock, before it writes. */
  readonly mayWrite: (path: string) => Promise<boolean>;
  /** The program's name or path; `qemu-system-x86_64`, if absent. */
  readonly emulator?: string;
  /** The kernel's, if absent. */
  readonly bootId?: string;
}

/** Opens a directory of machines. Nothing is touched before the first call. */
export function openQemu(options: QemuOptions): Hypervisor {
  const { directory, clock, random, logger } = options;
  const bootId = options.bootId ?? currentBootId();
  const listeners = new Set<(id: string) => void>();
  const probe = new HostProbe({
    directory,
    emulator: options.emulator ?? 'qemu-system-x86_64',
    bootId,
    accelerator: options.accelerator ?? 'auto',
    clock,
  });
  const host: MachineHost = {
    clock,
    random,
    logger,
    limits: { ...defaultLimits, ...options.limits },
    bootId,
    launcher: new Launcher(),
    persistent: new PersistentState(join(directory, 'persistent')),
    programs: () => probe.programs(),
    accelerator: () => probe.accelerator(),
    mayWrite: options.mayWrite,
    announce: (id) => {
      for (const listener of listeners) tell(listener, id, logger);
    },
  };
  return new QemuHypervisor({ host, catalog: new MachineCatalog(directory, host), probe, listeners });
}

/** What a listener does wrong is no concern of the others, nor of the machine. */
function tell(listener: (id: string) => void, id: string, logger: Logger): void {
  try {
    listener(id);
  } catch (error) {
    logger.error('A listener for changes of machines failed', { id, error: toError(error) });
  }
}
