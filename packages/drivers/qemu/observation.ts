import type { ForwardedPort, MachineEnd, MachineObservation } from '@sheaf/ports';
import { diskId, nicId } from './device-names.ts';
import type { MachineFacts } from './machine-facts.ts';
import type { MachineNotes, MachineRecord } from './machine-files.ts';

/** A machine that tells nothing about itself now. */
export function stateObservation(
  record: MachineRecord,
  state: 'starting' | 'unresponsive',
  pid?: number,
): MachineObservation {
  return { ...baseOf(record), state, ...(pid !== undefined && { processId: pid }) };
}

export function endedObservation(record: MachineRecord, end: MachineEnd): MachineObservation {
  return { ...baseOf(record), state: 'ended', end };
}

export function runningObservation(
  record: MachineRecord,
  seen: { facts: MachineFacts; notes: MachineNotes; pid: number },
): MachineObservation {
  const { facts, notes, pid } = seen;
  return {
    ...baseOf(record),
    // The moment in which it stands for its memory to be kept is nobody's pause.
    state: facts.status === 'running' || notes.memoryOrder ? 'running' : 'paused',
    ...(facts.status === 'io-error' && { isStalled: true }),
    ...(notes.memoryOrder && { isMemoryBeingKept: true }),
    processId: pid,
    devices: facts.devices.map((device) => ({
      ...device,
      isLeaving: notes.leaving.includes((device.kind === 'disk' ? diskId : nicId)(device.name)),
    })),
    forwards: [...facts.forwards, ...podForwards(notes)],
    sockets: facts.sockets,
    memoryBytes: facts.memoryBytes,
    isAgentConnected: facts.isAgentConnected,
    guestResets: notes.guestResets,
  };
}

/** Those that someone asked for. */
function podForwards({ podNetworks = {} }: MachineNotes): ForwardedPort[] {
  const all = Object.entries(podNetworks).flatMap(([nic, forwards]) =>
    forwards
      .filter(({ isWanted }) => isWanted)
      .map(({ protocol, guestPort, hostPort }) => ({ nic, protocol, guestPort, hostPort })),
  );
  return all.sort((a, b) => a.guestPort - b.guestPort || a.protocol.localeCompare(b.protocol));
}

function baseOf({ spec, accelerator, startedAt }: MachineRecord): Omit<MachineObservation, 'state'> {
  return {
    id: spec.id,
    title: spec.title,
    accelerator,
    startedAt,
    devices: [],
    forwards: [],
    sockets: spec.cpu.sockets,
    memoryBytes: spec.memory.bytes,
    isAgentConnected: false,
    guestResets: 0,
  };
}
