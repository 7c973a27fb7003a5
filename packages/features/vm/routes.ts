import { type ExtensionEndpoint, type ExtensionRequest, emptyAnswer } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import type { Hypervisor } from '@sheaf/ports';
import { actOnProcess, changeInstance, changeMachine, type RequestTarget } from './carry-out.ts';
import {
  type LifecycleAnswer,
  type LifecycleTarget,
  requestRestart,
  requestStart,
  requestStop,
} from './lifecycle-request.ts';
import {
  type ProcessAnswer,
  requestPause,
  requestReset,
  requestSoftReboot,
  requestUnpause,
} from './process-request.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';
import {
  requestAddInstanceVolume,
  requestAddVolume,
  requestRemoveInstanceVolume,
  requestRemoveVolume,
} from './volume-change.ts';

export interface RouteParts {
  readonly client: Client;
  readonly hypervisor: Hypervisor;
}

/** What changes machines and their processes. */
export function subresourceEndpoints(parts: RouteParts): readonly ExtensionEndpoint[] {
  const { client } = parts;
  return [
    ...Object.entries(machineRequests).map(([subresource, decide]) =>
      endpoint('virtualmachines', subresource, (target, body) =>
        changeMachine(client, target, (found) => decide(found, body)),
      ),
    ),
    ...Object.entries(instanceRequests).map(([subresource, decide]) =>
      endpoint('virtualmachineinstances', subresource, (target, body) =>
        changeInstance(client, target, (instance) => decide(instance, body)),
      ),
    ),
    ...Object.entries(processRequests).map(([subresource, decide]) =>
      endpoint('virtualmachineinstances', subresource, (target) => actOnProcess(parts, target, decide)),
    ),
  ];
}

function endpoint(
  resource: string,
  subresource: string,
  carryOut: (target: RequestTarget, body: JsonObject) => Promise<void>,
): ExtensionEndpoint {
  return {
    resource,
    subresource,
    verbs: ['update'],
    async handle(request) {
      const body = (await request.body.json()) ?? {};
      await carryOut(targetOf(request, body), body);
      return emptyAnswer(202);
    },
  };
}

function targetOf({ namespace, name, signal }: ExtensionRequest, { dryRun }: JsonObject): RequestTarget {
  const isDryRun = Array.isArray(dryRun) && dryRun.includes('All');
  return { place: { namespace, name }, signal, isDryRun };
}

/** The server hands bodies over as they come; each request reads of its own what it knows. */
const machineRequests: Readonly<
  Record<string, (target: LifecycleTarget, body: JsonObject) => LifecycleAnswer>
> = {
  start: (target, { paused }) => requestStart(target, { paused: paused === true }),
  stop: (target, { gracePeriod }) =>
    requestStop(target, typeof gracePeriod === 'number' ? { gracePeriod } : {}),
  restart: (target, { gracePeriodSeconds: seconds }) =>
    requestRestart(target, typeof seconds === 'number' ? { gracePeriodSeconds: seconds } : {}),
  addvolume: ({ machine }, body) => requestAddVolume(machine, body),
  removevolume: ({ machine }, body) => requestRemoveVolume(machine, body),
};

const instanceRequests: Readonly<
  Record<string, (instance: VirtualMachineInstance, body: JsonObject) => LifecycleAnswer>
> = {
  addvolume: (instance, body) => requestAddInstanceVolume(instance, body),
  removevolume: (instance, body) => requestRemoveInstanceVolume(instance, body),
};

const processRequests: Readonly<
  Record<string, (instance: VirtualMachineInstance, machine: VirtualMachine | undefined) => ProcessAnswer>
> = {
  pause: requestPause,
  unpause: requestUnpause,
  softreboot: requestSoftReboot,
  reset: requestReset,
};
