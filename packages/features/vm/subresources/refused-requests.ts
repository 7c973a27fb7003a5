import { type ExtensionEndpoint, type ExtensionRequest, emptyAnswer } from '@sheaf/api';
import { badRequest, type StatusError } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import { conflict, forbidden } from '../lifecycle-refusal.ts';
import { instanceResource, machineResource } from '../vm-resources.ts';
import { placeOf, type SubresourceParts } from './instance-request.ts';

type Subject = 'virtualmachine' | 'virtualmachineinstance';
type Refuse = (name: string) => StatusError;

interface Refusal {
  readonly subject: Subject;
  readonly subresource: string;
  readonly verb: 'get' | 'update';
  readonly isStream?: boolean;
  readonly refuse: Refuse;
}

/** What clients of KubeVirt may ask for and one machine without Pods cannot do; each answer names the way out. */
export function refusedEndpoints({ client }: SubresourceParts): readonly ExtensionEndpoint[] {
  return [
    ...refusals.map((refusal) => refusedEndpoint(client, refusal)),
    ...(['virtualmachine', 'virtualmachineinstance'] as const).map((subject) =>
      evacuateCancel(client, subject),
    ),
    migrate(client),
  ];
}

const memoryDump =
  'the memory of a machine cannot be written to a volume here; take a snapshot of its disks, or copy the memory from inside the guest';

const refusals: readonly Refusal[] = [
  ...['memorydump', 'removememorydump'].map(
    (subresource): Refusal => ({
      subject: 'virtualmachine',
      subresource,
      verb: 'update',
      refuse: (name) => conflict('virtualmachine', name, memoryDump).error,
    }),
  ),
  ofInstance('usbredir', (name) =>
    conflictOf(
      name,
      'Not configured with USB Redirection; devices of a client cannot be plugged in here, copy the data over the network instead',
    ),
  ),
  ofInstance('vsock', () =>
    badRequest(
      'VSOCK is not attached; reach the guest over the network instead: virtctl port-forward, virtctl ssh',
    ),
  ),
  ...['sev/fetchcertchain', 'sev/querylaunchmeasurement'].map((word) => sev(word, 'get')),
  ...['sev/setupsession', 'sev/injectlaunchsecret'].map((word) => sev(word, 'update')),
  changing('backup', (name) =>
    conflictOf(name, 'backups are made as objects here; create a VirtualMachineBackup of harvesterhci.io'),
  ),
  changing('redefine-checkpoint', (name) =>
    conflictOf(name, 'ChangedBlockTracking is not enabled; each backup is a whole one here'),
  ),
];

function ofInstance(subresource: 'usbredir' | 'vsock', refuse: Refuse): Refusal {
  return { subject: 'virtualmachineinstance', subresource, verb: 'get', isStream: true, refuse };
}

function changing(subresource: string, refuse: Refuse): Refusal {
  return { subject: 'virtualmachineinstance', subresource, verb: 'update', refuse };
}

function sev(subresource: string, verb: 'get' | 'update'): Refusal {
  const text =
    'machines with encrypted memory (SEV) are not started here; run the guest without launchSecurity, on a disk that it encrypts itself';
  const refuse: Refuse = (name) => forbidden('virtualmachineinstance', name, text).error;
  return { subject: 'virtualmachineinstance', subresource, verb, refuse };
}

function conflictOf(name: string, text: string): StatusError {
  return conflict('virtualmachineinstance', name, text).error;
}

function refusedEndpoint(
  client: Client,
  { subject, subresource, verb, isStream, refuse }: Refusal,
): ExtensionEndpoint {
  return {
    resource: `${subject}s`,
    subresource,
    verbs: [verb],
    ...(isStream === true ? { isStream } : {}),
    async handle(request) {
      await find(client, subject, request);
      throw refuse(request.name);
    },
  };
}

/** What is not there is 404 before anything else is said about it. */
async function find(client: Client, subject: Subject, request: ExtensionRequest): Promise<void> {
  const place = placeOf(request);
  if (subject === 'virtualmachine') await client.get(machineResource, place, request.signal);
  else await client.get(instanceResource, place, request.signal);
}

/** Nothing is ever evacuated from the only node, so that there is nothing to cancel, which is no failure. */
function evacuateCancel(client: Client, subject: Subject): ExtensionEndpoint {
  return {
    resource: `${subject}s`,
    subresource: 'evacuate/cancel',
    verbs: ['update'],
    async handle(request) {
      await find(client, subject, request);
      return emptyAnswer(200);
    },
  };
}

export const noOtherNode =
  'there is no other node to migrate to; stop the machine for work on this one, or restore a backup of it elsewhere';

function migrate(client: Client): ExtensionEndpoint {
  return {
    resource: 'virtualmachines',
    subresource: 'migrate',
    verbs: ['update'],
    async handle(request) {
      const place = placeOf(request);
      await client.get(machineResource, place, request.signal);
      const { status } = await client.get(instanceResource, place, request.signal);
      const text = status?.phase === 'Running' ? noOtherNode : 'VM is not running; start it first';
      throw conflict('virtualmachine', request.name, text).error;
    },
  };
}
