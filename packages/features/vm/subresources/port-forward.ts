import {
  byteStreamAnswer,
  type ExtensionAnswer,
  type ExtensionEndpoint,
  type ExtensionRequest,
} from '@sheaf/api';
import { badRequest, type StatusError } from '@sheaf/base';
import type { PortForward } from '@sheaf/ports';
import { conflict } from '../lifecycle-refusal.ts';
import { isControlledBy, type VirtualMachineInstance } from '../virtual-machine.ts';
import { instanceResource, machineResource } from '../vm-resources.ts';
import { checkPort } from './instance-check.ts';
import { checkedInstance, placeOf, processIdOf, type SubresourceParts } from './instance-request.ts';

/**
 * `…/portforward/PORT[/PROTOCOL]` of a machine and of its instance: a connection to a port of the guest. By UDP each message of the
 * WebSocket is one of UDP.
 */
export function portForwardEndpoints(parts: SubresourceParts): readonly ExtensionEndpoint[] {
  const shared = { subresource: 'portforward', verbs: ['get'], isStream: true, takesRest: true };
  return [
    { ...shared, resource: 'virtualmachineinstances', handle: (request) => openPort(parts, request) },
    {
      ...shared,
      resource: 'virtualmachines',
      async handle(request) {
        await checkMachine(parts, request);
        return openPort(parts, request);
      },
    },
  ];
}

async function openPort(
  { client, hypervisor }: SubresourceParts,
  request: ExtensionRequest,
): Promise<ExtensionAnswer> {
  const port = readPort(request.rest);
  const instance = await checkedInstance(client, request, checkPort);
  return byteStreamAnswer(await hypervisor.openPort(processIdOf(instance), port, request.signal));
}

async function checkMachine({ client }: SubresourceParts, request: ExtensionRequest): Promise<void> {
  const place = placeOf(request);
  const machine = await client.get(machineResource, place, request.signal);
  const instance = await client.find(instanceResource, place, request.signal);
  if (instance === undefined || !isControlledBy(instance, machine)) throw notStarted(place.name, instance);
}

function notStarted(name: string, other: VirtualMachineInstance | undefined): StatusError {
  const text = other
    ? 'an instance of the same name belongs to someone else; delete it, or rename the machine'
    : 'VMI is not started; start the machine';
  return conflict('virtualmachine', name, text).error;
}

/** The words after `portforward`. @throws StatusError 400 */
export function readPort([port = '', protocol = 'tcp', ...further]: readonly string[]): PortForward {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65_535 || further.length > 0)
    throw badRequest(
      `${JSON.stringify(port)} is no port: ask for portforward/PORT, portforward/PORT/tcp or portforward/PORT/udp`,
    );
  const known = protocol.toLowerCase();
  if (known === 'tcp' || known === 'udp') return { protocol: known, guestPort: number };
  throw badRequest(`the protocol ${JSON.stringify(protocol)} is unknown: use tcp or udp`);
}
