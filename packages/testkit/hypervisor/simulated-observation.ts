import type { AttachedDevice, MachineObservation } from '@sheaf/ports';
import type { SimulatedMachine } from './simulated-host.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** A machine as a driver tells it. */
export function observationOf(machine: SimulatedMachine, hasAgent: boolean): MachineObservation {
  const { spec, startedAt, process, end } = machine;
  const base = {
    id: spec.id,
    title: spec.title,
    accelerator: spec.accelerator ?? 'tcg',
    startedAt,
    devices: [],
    forwards: [],
    sockets: spec.cpu.sockets,
    memoryBytes: spec.memory.bytes,
    isAgentConnected: false,
    guestResets: 0,
  } as const;
  if (end) return { ...base, state: 'ended', end };
  if (!process || process.untilReadyMs > 0) return { ...base, state: 'starting' };
  if (process.isFrozen) return { ...base, state: 'unresponsive', processId: process.pid };
  return {
    ...base,
    state: process.guest.isRunning ? 'running' : 'paused',
    processId: process.pid,
    devices: devicesOf(machine, process),
    forwards: [...process.forwards],
    sockets: process.sockets,
    memoryBytes: process.memoryBytes,
    isAgentConnected: hasAgent && spec.hasAgentChannel && process.guest.isRunning,
    guestResets: machine.guestResets,
  };
}

function devicesOf({ leaving }: SimulatedMachine, { disks, nics }: SimulatedProcess): AttachedDevice[] {
  return [
    ...[...disks.values()].map(({ name, file }) => ({
      name,
      kind: 'disk' as const,
      ...(file && { path: file.path }),
      isLeaving: leaving.has(`disk/${name}`),
    })),
    ...[...nics.values()].map(({ name }) => ({
      name,
      kind: 'nic' as const,
      isLeaving: leaving.has(`nic/${name}`),
    })),
  ];
}
