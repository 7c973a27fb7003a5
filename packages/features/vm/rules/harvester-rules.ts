import type { KubeObject } from '@sheaf/api';
import {
  compareQuantities,
  isJsonObject,
  type JsonValue,
  parseQuantity,
  type StatusCause,
} from '@sheaf/base';
import { claimNameOf } from '../instance-spec.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { cause, each, listed } from './cause.ts';

export const claimTemplatesAnnotation = 'harvesterhci.io/volumeClaimTemplates';
export const reservedMemoryAnnotation = 'harvesterhci.io/reservedMemory';
const maintainModeLabel = 'harvesterhci.io/maintain-mode-strategy';
const maintainModes = [
  'Migrate',
  'ShutdownAndRestartAfterEnable',
  'ShutdownAndRestartAfterDisable',
  'Shutdown',
];

/** The rules that Harvester adds to KubeVirt's. */
export function harvesterCauses(
  machine: VirtualMachine,
  others: readonly VirtualMachine[],
): readonly StatusCause[] {
  return [
    ...claimTemplateCauses(machine),
    ...reservedMemoryCauses(machine),
    ...maintainModeCauses(machine),
    ...emptyDriveCauses(machine),
    ...claimUseCauses(machine, others),
    ...macUseCauses(machine, others),
  ];
}

function claimTemplateCauses({ metadata }: VirtualMachine): readonly StatusCause[] {
  const text = metadata.annotations?.[claimTemplatesAnnotation];
  if (text === undefined || text === '') return [];
  const field = `metadata.annotations[${claimTemplatesAnnotation}]`;
  const templates = readJson(text);
  if (!Array.isArray(templates))
    return [
      cause(field, 'is no JSON list of PersistentVolumeClaims', { wayOut: 'correct it, or remove it' }),
    ];
  const isNamed = (template: JsonValue): boolean => {
    const meta = isJsonObject(template) ? template['metadata'] : undefined;
    return isJsonObject(meta) && typeof meta['name'] === 'string' && meta['name'] !== '';
  };
  const unnamed = templates.findIndex((template) => !isNamed(template));
  if (unnamed < 0) return [];
  return [
    cause(field, `PVC template ${unnamed} has no name`, { wayOut: 'set metadata.name of each template' }),
  ];
}

function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function reservedMemoryCauses({ metadata, spec }: VirtualMachine): readonly StatusCause[] {
  const reserved = metadata.annotations?.[reservedMemoryAnnotation];
  const limit = spec.template.spec.domain.resources?.limits?.['memory'];
  if (reserved === undefined || reserved === '' || limit === undefined) return [];
  const field = `metadata.annotations[${reservedMemoryAnnotation}]`;
  if (!/^[0-9.]+[A-Za-z]{0,2}$/.test(reserved))
    return [cause(field, `'${reserved}' is no quantity`, { wayOut: 'write a number such as 256Mi' })];
  if (compareQuantities(parseQuantity(reserved), parseQuantity(String(limit))) < 0) return [];
  const text = `reservedMemory '${reserved}' must be less than the memory limit '${limit}'`;
  return [cause(field, text, { wayOut: 'lower it' })];
}

function maintainModeCauses({ metadata }: VirtualMachine): readonly StatusCause[] {
  const mode = metadata.labels?.[maintainModeLabel];
  if (mode === undefined || maintainModes.includes(mode)) return [];
  const text = `maintain mode strategy ${mode} is unknown, must be one of: ${listed(maintainModes)}`;
  return [cause(`metadata.labels[${maintainModeLabel}]`, text, { wayOut: 'use one of them' })];
}

function emptyDriveCauses({ spec }: VirtualMachine): readonly StatusCause[] {
  const { domain, volumes = [] } = spec.template.spec;
  const names = new Set(volumes.map(({ name }) => name));
  return each(domain.devices.disks, 'spec.template.spec.domain.devices.disks', ({ name, cdrom }, field) => {
    if (!cdrom || names.has(name) || (cdrom.bus ?? 'sata') === 'sata') return [];
    return [
      cause(`${field}.cdrom.bus`, 'an empty CD-ROM drive must be on the SATA bus', { wayOut: 'use sata' }),
    ];
  });
}

/** One claim has one writer. */
function claimUseCauses(machine: VirtualMachine, others: readonly VirtualMachine[]): readonly StatusCause[] {
  const users = new Map<string, string>();
  for (const other of others.filter((each) => isOtherIn(machine, each)))
    for (const { name, claim } of claimsOf(other))
      if (!isShared(other, name)) users.set(claim, nameOf(other));
  const { volumes } = machine.spec.template.spec;
  return each(volumes, 'spec.template.spec.volumes', (volume, field) => {
    const claim = claimNameOf(volume);
    const user = claim === undefined ? undefined : users.get(claim);
    if (user === undefined || isShared(machine, volume.name)) return [];
    const text = `the volume ${claim} is already used by VM ${user}`;
    return [cause(field, text, { wayOut: 'detach it there, or attach another volume' })];
  });
}

function claimsOf({ spec }: VirtualMachine): readonly { readonly name: string; readonly claim: string }[] {
  return (spec.template.spec.volumes ?? []).flatMap((volume) => {
    const claim = claimNameOf(volume);
    return claim === undefined ? [] : [{ name: volume.name, claim }];
  });
}

function isShared({ spec }: VirtualMachine, name: string): boolean {
  const disk = spec.template.spec.domain.devices.disks?.find((each) => each.name === name);
  return disk?.shareable === true || disk?.cdrom !== undefined;
}

/** Two machines of one network with one address lose each other's answers. */
function macUseCauses(machine: VirtualMachine, others: readonly VirtualMachine[]): readonly StatusCause[] {
  const users = new Map<string, string>();
  for (const other of others.filter((each) => each.metadata.uid !== machine.metadata.uid))
    for (const { mac, network } of macsOf(other)) users.set(`${network} ${mac}`, nameOf(other));
  return macsOf(machine).flatMap(({ mac, network, index }) => {
    const user = users.get(`${network} ${mac}`);
    if (user === undefined) return [];
    const field = `spec.template.spec.domain.devices.interfaces[${index}].macAddress`;
    const text = `MAC address ${mac} is already used by VM ${user} on network ${network}`;
    return [cause(field, text, { wayOut: 'leave it empty to get a new one' })];
  });
}

function macsOf({
  metadata,
  spec,
}: VirtualMachine): readonly { readonly mac: string; readonly network: string; readonly index: number }[] {
  const { domain, networks = [] } = spec.template.spec;
  return (domain.devices.interfaces ?? []).flatMap(({ name, macAddress = '' }, index) => {
    const networkName = networks.find((network) => network.name === name)?.multus?.networkName;
    // Each machine has a pod network of its own.
    if (networkName === undefined || macAddress === '') return [];
    const network = networkName.includes('/') ? networkName : `${metadata.namespace ?? ''}/${networkName}`;
    return [{ mac: macAddress.toLowerCase().replaceAll('-', ':'), network, index }];
  });
}

function isOtherIn(machine: VirtualMachine, other: VirtualMachine): boolean {
  const isSame = other.metadata.uid === machine.metadata.uid && other.metadata.uid !== undefined;
  return (
    !isSame && other.metadata.namespace === machine.metadata.namespace && nameOf(other) !== nameOf(machine)
  );
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}
