import { type ExtensionAnswer, jsonAnswer } from '@sheaf/api';
import { noOtherNode } from '../subresources/refused-requests.ts';
import { instanceResource } from '../vm-resources.ts';
import {
  type Action,
  type ActionCall,
  invalidAction,
  invalidBody,
  readMachine,
  refused,
  requiredText,
  textOf,
} from './action-call.ts';
import { readTemplates } from './claim-templates.ts';

/** Moving a machine or its volumes while it runs needs another place to move them to. */
export const moveActions: Readonly<Record<string, Action>> = {
  migrate,
  abortMigration,
  findMigratableNodes,
  storageMigration,
  cancelStorageMigration,
};

async function migrate(call: ActionCall): Promise<never> {
  const { client, place, signal } = call;
  const { status } = await client.get(instanceResource, place, signal);
  if (status?.phase !== 'Running') throw refused('The VM is not in running state; start it first');
  const nodeName = textOf(call, 'nodeName');
  if (nodeName !== '' && nodeName === status.nodeName)
    throw invalidBody('The VM is currently running on the target node; leave it there');
  throw refused(`Can't migrate the VM: ${noOtherNode}`);
}

async function abortMigration({ client, place, signal }: ActionCall): Promise<never> {
  await client.get(instanceResource, place, signal);
  throw refused('The VM is not in migrating state; nothing is to be aborted');
}

async function findMigratableNodes({ client, place, signal }: ActionCall): Promise<ExtensionAnswer> {
  await client.get(instanceResource, place, signal);
  return jsonAnswer(200, { nodes: [] });
}

async function storageMigration(call: ActionCall): Promise<never> {
  const [source, target] = [requiredText(call, 'sourceVolume'), requiredText(call, 'targetVolume')];
  if (source === target) throw invalidBody('sourceVolume and targetVolume must be different');
  await readMachine(call);
  throw invalidAction(
    'volumes cannot be moved under a running machine here; stop it, clone the volume and put the clone into the machine',
  );
}

async function cancelStorageMigration(call: ActionCall): Promise<never> {
  const machine = await readMachine(call);
  const isAsked = readTemplates(machine).some((template) => typeof template['targetVolume'] === 'string');
  throw refused(
    isAsked
      ? 'no active storage migration found: it has never begun; remove targetVolume from the volumeClaimTemplates annotation'
      : 'no active storage migration found; nothing is to be cancelled',
  );
}
