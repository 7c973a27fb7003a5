import { compareQuantities, parseQuantity, StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { actOnProcess, changeMachine } from '../carry-out.ts';
import { claimNameOf } from '../instance-spec.ts';
import {
  type LifecycleAnswer,
  type LifecycleTarget,
  requestRestart,
  requestStart,
  requestStop,
} from '../lifecycle-request.ts';
import { type ProcessAnswer, requestPause, requestSoftReboot, requestUnpause } from '../process-request.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../virtual-machine.ts';
import { type Action, type ActionCall, editMachine, readMachine, refused, titleOf } from './action-call.ts';

export const powerActions: Readonly<Record<string, Action>> = {
  start: worded('start', async (call) => {
    await refuseGrowing(call);
    await request(call, (target) => requestStart(target, {}));
  }),
  restart: worded('restart', (call) => request(call, (target) => requestRestart(target, {}))),
  stop: worded('stop', async (call) => void (await editMachine(call, halted))),
  forceStop,
  pause: worded('pause', (call) => onProcess(call, requestPause)),
  unpause: worded('unpause', (call) => onProcess(call, requestUnpause)),
  softreboot: worded('softreboot', (call) => onProcess(call, requestSoftReboot)),
};

/** A refusal begins with what was wanted of whom, as Harvester's do. */
function worded(verb: string, act: (call: ActionCall) => Promise<void>): Action {
  return async (call) => {
    try {
      await act(call);
      return undefined;
    } catch (error) {
      if (!StatusError.is(error) || error.code >= 500) throw error;
      const { reason, code, details } = error;
      const message = `${verb} virtual machine ${titleOf(call)} failed, ${error.message}`;
      throw new StatusError({ reason, code, message, ...(details ? { details } : {}), cause: error });
    }
  };
}

async function request(
  { client, place, signal }: ActionCall,
  decide: (target: LifecycleTarget) => LifecycleAnswer,
): Promise<void> {
  await changeMachine(client, { place, signal }, decide);
}

async function onProcess(
  { client, hypervisor, place, signal }: ActionCall,
  decide: (instance: VirtualMachineInstance, machine: VirtualMachine | undefined) => ProcessAnswer,
): Promise<void> {
  await actOnProcess({ client, hypervisor }, { place, signal }, decide);
}

/** Off, whatever the strategy was; the last one stays in an annotation and comes back with the next start. */
function halted(machine: VirtualMachine): VirtualMachine {
  if (machine.spec.runStrategy === 'Halted') return machine;
  const { running: _, ...spec } = machine.spec;
  return { ...machine, spec: { ...spec, runStrategy: 'Halted' } };
}

/** Ends it at once. One that is off already has what was wanted. */
async function forceStop(call: ActionCall): Promise<undefined> {
  try {
    await request(call, (target) => requestStop(target, { gracePeriod: 0 }));
  } catch (error) {
    if (!StatusError.is(error, 'Conflict') || !isOff(error)) throw error;
  }
  return undefined;
}

function isOff({ message }: Error): boolean {
  return message.includes('Halted only supports manual stop requests');
}

async function refuseGrowing(call: ActionCall): Promise<void> {
  const { spec } = await readMachine(call);
  for (const volume of spec.template.spec.volumes ?? []) {
    const name = claimNameOf(volume);
    if (name !== undefined && (await isGrowing(call, name)))
      throw refused(
        `can not start the VM ${titleOf(call)} which has a resizing volume ${call.place.namespace}/${name}; wait until it has its size, or cancel its expansion`,
      );
  }
}

async function isGrowing({ client, place, signal }: ActionCall, name: string): Promise<boolean> {
  const ref = { namespace: place.namespace, name };
  const claim = await client.find(resources.persistentVolumeClaims, ref, signal);
  const wanted = claim?.spec.resources?.requests?.['storage'];
  const present = claim?.status?.capacity?.['storage'];
  if (wanted === undefined || present === undefined) return false;
  return compareQuantities(parseQuantity(wanted), parseQuantity(present)) > 0;
}
