import { dns1123LabelErrors, portNumberErrors } from '@sheaf/api';
import type { StatusCause } from '@sheaf/base';
import type { InstanceSpec, InterfaceSpec, NetworkSpec } from '../instance-spec.ts';
import { cause, duplicateNames, each, listed } from './cause.ts';

const models = ['e1000', 'e1000e', 'igb', 'ne2k_pci', 'pcnet', 'rtl8139', 'virtio'];
const bindings = ['masquerade', 'bridge', 'sriov', 'binding'] as const;
const mac = /^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$/;

/** What is wrong with the network cards and networks of a machine. */
export function networkCauses({ domain, networks }: InstanceSpec, path: string): readonly StatusCause[] {
  const { interfaces } = domain.devices;
  const field = `${path}.domain.devices.interfaces`;
  return [
    ...duplicateNames(interfaces, field),
    ...duplicateNames(networks, `${path}.networks`),
    ...each(interfaces, field, (each, place) => interfaceCauses(each, networks ?? [], place)),
    ...each(networks, `${path}.networks`, (network, place) =>
      singleNetworkCauses(network, interfaces ?? [], place),
    ),
    ...podNetworkCauses(networks, `${path}.networks`),
    ...duplicateMacs(interfaces ?? [], field),
  ];
}

function interfaceCauses(
  each: InterfaceSpec,
  networks: readonly NetworkSpec[],
  field: string,
): readonly StatusCause[] {
  const network = networks.find(({ name }) => name === each.name);
  return [
    ...dns1123LabelErrors(each.name).map((text) =>
      cause(`${field}.name`, text, { wayOut: 'choose another name' }),
    ),
    ...(network
      ? []
      : [
          cause(`${field}.name`, `${field}.name '${each.name}' not found.`, {
            wayOut: 'add a network of this name',
          }),
        ]),
    ...bindingCauses(each, network, field),
    ...modelCauses(each, field),
    ...portCauses(each, field),
  ];
}

function bindingCauses(
  each: InterfaceSpec,
  network: NetworkSpec | undefined,
  field: string,
): readonly StatusCause[] {
  const count = bindings.filter((name) => each[name] !== undefined && each[name] !== null).length;
  if (count > 1)
    return [
      cause(field, `${field} must have only one binding method`, {
        wayOut: `keep one of ${listed(bindings)}`,
      }),
    ];
  if (each.masquerade && network && !network.pod)
    return [
      cause(`${field}.name`, 'Masquerade interface only implemented with pod network', {
        wayOut: 'use bridge on this network',
      }),
    ];
  return [];
}

function modelCauses({ name, model, macAddress }: InterfaceSpec, field: string): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  if (model !== undefined && model !== '' && !models.includes(model))
    causes.push(
      cause(`${field}.model`, `interface ${field}.name uses model ${model} that is not supported.`, {
        wayOut: `use one of ${listed(models)}`,
        reason: 'FieldValueNotSupported',
      }),
    );
  if (macAddress !== undefined && macAddress !== '' && !mac.test(macAddress))
    causes.push(
      cause(`${field}.macAddress`, `interface ${name} has malformed MAC address (${macAddress}).`, {
        wayOut: 'write six pairs of hexadecimal digits, such as 02:00:00:00:00:01',
      }),
    );
  return causes;
}

function portCauses({ ports }: InterfaceSpec, field: string): readonly StatusCause[] {
  return each(ports, `${field}.ports`, ({ port, protocol = 'TCP' }, place) => {
    const causes = portNumberErrors(port).map((text) =>
      cause(place, `Port field must be in range 0 < x < 65536: ${text}`, { wayOut: 'choose another port' }),
    );
    if (/^(tcp|udp)$/i.test(protocol)) return causes;
    const text = 'Unknown protocol, only TCP or UDP allowed';
    return [...causes, cause(`${place}.protocol`, text, { wayOut: 'use one of them' })];
  });
}

function singleNetworkCauses(
  { name, pod, multus }: NetworkSpec,
  interfaces: readonly InterfaceSpec[],
  field: string,
): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  if (!interfaces.some((each) => each.name === name))
    causes.push(
      cause(`${field}.name`, `${field}.name '${name}' not found.`, {
        wayOut: 'add an interface of this name',
      }),
    );
  if ((pod === undefined) === (multus === undefined))
    causes.push(
      cause(field, pod ? 'should have only one network type' : 'should have a network type', {
        wayOut: 'set one of pod and multus',
        reason: 'FieldValueRequired',
      }),
    );
  if (multus && (multus.networkName ?? '') === '')
    causes.push(
      cause(`${field}.multus.networkName`, 'CNI delegating plugin must have a networkName', {
        wayOut: 'set it',
        reason: 'FieldValueRequired',
      }),
    );
  return causes;
}

function podNetworkCauses(
  networks: readonly NetworkSpec[] | undefined,
  field: string,
): readonly StatusCause[] {
  const count = (networks ?? []).filter(({ pod }) => pod).length;
  if (count <= 1) return [];
  return [
    cause(field, `more than one interface is connected to a pod network in ${field}`, {
      wayOut: 'keep one of them',
    }),
  ];
}

function duplicateMacs(interfaces: readonly InterfaceSpec[], field: string): readonly StatusCause[] {
  const seen = new Map<string, number>();
  return each(interfaces, field, ({ macAddress = '' }, place, index) => {
    const address = macAddress.toLowerCase().replaceAll('-', ':');
    const first = seen.get(address);
    if (address !== '') seen.set(address, first ?? index);
    if (first === undefined || address === '') return [];
    const text = `${place} and ${field}[${first}] have the same MAC address ${address}`;
    return [cause(`${place}.macAddress`, text, { wayOut: 'leave one of them empty to get a new one' })];
  });
}
