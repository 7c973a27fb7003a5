import type { MachineDisk, MachineEnd, MachineSpec } from '@sheaf/ports';
import type { SimulatedHost, SimulatedMachine } from './simulated-host.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { refusals } from './simulated-refusals.ts';

/** A machine of which nothing but its order is written down. */
export function newMachine(spec: MachineSpec, host: SimulatedHost): SimulatedMachine {
  return {
    spec,
    startedAt: host.clock.now(),
    bootId: host.bootId,
    wasLaunched: false,
    wasReady: false,
    process: undefined,
    end: undefined,
    unseenEnd: undefined,
    guestResets: 0,
    leaving: new Set(),
    serialLog: '',
  };
}

/** What it keeps beyond its end. */
export function keysOf({ firmware, tpm }: MachineSpec): string[] {
  const keys = [tpm?.persistentKey, firmware.kind === 'efi' ? firmware.persistentKey : undefined];
  return keys.filter((key) => key !== undefined);
}

/** @throws StatusError if there is none */
export function diskOf({ disks }: SimulatedProcess, name: string): MachineDisk {
  const disk = disks.get(name);
  if (!disk) throw refusals.noDevice(name);
  return disk;
}

/** Why a process is gone that left no cause; `undefined` where it is not gone. */
export function endOfDeath(machine: SimulatedMachine, bootIdNow: number): MachineEnd | undefined {
  const { process, wasLaunched, wasReady, bootId } = machine;
  if (process || !wasLaunched) return undefined;
  if (bootId !== bootIdNow) return { cause: 'host-restarted' };
  const message = 'the process is gone and left no words';
  return wasReady ? { cause: 'process-died', message } : { cause: 'start-failed', message };
}
