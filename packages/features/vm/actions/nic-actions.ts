import { type ExtensionAnswer, jsonAnswer } from '@sheaf/api';
import { resources } from '@sheaf/client';
import type { InterfaceSpec, NetworkSpec } from '../instance-spec.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import {
  type Action,
  type ActionCall,
  editMachine,
  readMachine,
  refused,
  requiredText,
  textOf,
  titleOf,
} from './action-call.ts';

export const nicActions: Readonly<Record<string, Action>> = { addNic, removeNic, findHotunpluggableNics };

/** Plugs a network card in. It takes effect at once: nothing has to be moved for it. */
async function addNic(call: ActionCall): Promise<undefined> {
  const { client, place, request, signal } = call;
  const name = requiredText(call, 'interfaceName');
  const networkName = requiredText(call, 'networkName');
  const macAddress = textOf(call, 'macAddress');
  const words = networkName.split('/');
  const [namespace = place.namespace, network = networkName] = words.length === 2 ? words : [];
  const { group, plural: resource } = resources.networkAttachmentDefinitions;
  await request.authorize({ verb: 'get', group, resource, namespace, name: network });
  await client.get(resources.networkAttachmentDefinitions, { namespace, name: network }, signal);
  const nic: InterfaceSpec = {
    name,
    model: 'virtio',
    bridge: {},
    ...(macAddress === '' ? {} : { macAddress }),
  };
  await editMachine(call, (machine) => {
    if (interfacesOf(machine).some((each) => each.name === name))
      throw refused(`${titleOf(call)} has an interface ${name} already; choose another name`);
    const networks = [...(machine.spec.template.spec.networks ?? []), { name, multus: { networkName } }];
    return withNics(machine, [...interfacesOf(machine), nic], networks);
  });
  return undefined;
}

async function removeNic(call: ActionCall): Promise<undefined> {
  const name = requiredText(call, 'interfaceName');
  await editMachine(call, (machine) => {
    const interfaces = interfacesOf(machine);
    const nic = interfaces.find((each) => each.name === name);
    if (!nic) throw refused(`interface ${name} doesn't exist; ask findHotunpluggableNics for the names`);
    const reason = reasonAgainstRemoving(nic, interfaces.length);
    if (reason !== undefined) throw refused(`interface ${name} is not hot-unpluggable: ${reason}`);
    const rest = interfaces.map((each) => (each === nic ? { ...each, state: 'absent' as const } : each));
    return withNics(machine, rest, machine.spec.template.spec.networks ?? []);
  });
  return undefined;
}

async function findHotunpluggableNics(call: ActionCall): Promise<ExtensionAnswer> {
  const interfaces = interfacesOf(await readMachine(call));
  const names = interfaces
    .filter((nic) => reasonAgainstRemoving(nic, interfaces.length) === undefined)
    .map(({ name }) => name);
  return jsonAnswer(200, { interfaces: names });
}

function reasonAgainstRemoving({ state, bridge, model }: InterfaceSpec, count: number): string | undefined {
  if (count <= 1) return 'the machine has only one; stop it and edit it';
  if (state === 'absent') return 'it is being removed already';
  if (!bridge) return 'it is not in bridge mode; stop the machine and edit it';
  const isVirtio = model === undefined || model === '' || model === 'virtio';
  return isVirtio ? undefined : 'it is not using virtio model; stop the machine and edit it';
}

function interfacesOf({ spec }: VirtualMachine): readonly InterfaceSpec[] {
  return spec.template.spec.domain.devices.interfaces ?? [];
}

function withNics(
  machine: VirtualMachine,
  interfaces: readonly InterfaceSpec[],
  networks: readonly NetworkSpec[],
): VirtualMachine {
  const { template } = machine.spec;
  const { domain } = template.spec;
  const devices = { ...domain.devices, interfaces };
  const spec = { ...template.spec, networks, domain: { ...domain, devices } };
  return { ...machine, spec: { ...machine.spec, template: { ...template, spec } } };
}
