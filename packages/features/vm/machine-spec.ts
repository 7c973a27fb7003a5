import { parseQuantity, quantityAsBigInt } from '@sheaf/base';
import type {
  Firmware,
  MachineCpu,
  MachineMemory,
  MachineSpec,
  SystemIdentity,
  Watchdog,
} from '@sheaf/ports';
import { definedFields } from './defined-fields.ts';
import { instanceCoverage } from './instance-coverage.ts';
import type { DomainSpec, InstanceSpec, QuantityText } from './instance-spec.ts';
import { translateDisks, type VolumeFiles } from './machine-disks.ts';
import { type NicLinks, translateNics } from './machine-nics.ts';
import { systemUuidOf } from './new-instance.ts';
import { findUncovered } from './spec-coverage.ts';
import { ownerUidOf, type VirtualMachineInstance } from './virtual-machine.ts';

/** Something in a spec that cannot be had. */
export interface SpecProblem {
  readonly field: string;
  readonly reason: string;
  readonly wayOut: string;
}

/** What a spec only names, found in the world. */
export interface ResolvedParts {
  /** The file behind each volume that has one. */
  readonly files: VolumeFiles;
  readonly links: NicLinks;
}

export type Translation =
  | { readonly isPossible: true; readonly spec: MachineSpec; readonly warnings: readonly string[] }
  | { readonly isPossible: false; readonly problems: readonly SpecProblem[] };

/** Translates an instance; each of its fields has an effect, is a problem, or is named in a warning. */
export function translateInstance(instance: VirtualMachineInstance, parts: ResolvedParts): Translation {
  const { spec } = instance;
  const coverage = findUncovered(spec, instanceCoverage, 'spec');
  const disks = translateDisks(spec, parts.files);
  const nics = translateNics(instance, parts.links);
  const type = machineTypeOf(spec);
  const problems = [...coverage.refused, ...disks.problems, ...nics.problems, ...type.problems];
  if (problems.length > 0) return { isPossible: false, problems };
  const warnings = [
    ...coverage.withoutEffect.map((field) => `${field} has no effect`),
    ...disks.warnings,
    ...nics.warnings,
  ];
  const machine = { disks: disks.disks, nics: nics.nics, machineType: type.machineType };
  return { isPossible: true, spec: machineOf(instance, machine), warnings };
}

function machineOf(
  instance: VirtualMachineInstance,
  translated: Pick<MachineSpec, 'disks' | 'nics' | 'machineType'>,
): MachineSpec {
  const { domain } = instance.spec;
  const { namespace = '', name = '', uid = '' } = instance.metadata;
  const { devices } = domain;
  const persistentKey = ownerUidOf(instance) ?? uid;
  return {
    id: uid,
    title: `${namespace}/${name}`,
    ...translated,
    cpu: cpuOf(domain),
    memory: memoryOf(domain),
    firmware: firmwareOf(domain, persistentKey),
    identity: identityOf(domain, name),
    hasGraphics: devices.autoattachGraphicsDevice !== false,
    hasSerialConsole: devices.autoattachSerialConsole !== false,
    hasAgentChannel: true,
    hasRandomSource: devices.rng !== undefined,
    hasBalloon: devices.autoattachMemBalloon !== false,
    hasTablet: hasTablet(domain),
    ...watchdogOf(domain),
    ...tpmOf(domain, persistentKey),
    clock: domain.clock?.timezone ?? 'utc',
  };
}

function hasTablet({ devices }: DomainSpec): boolean {
  return (
    devices.autoattachInputDevice === true || devices.inputs?.some(({ type }) => type === 'tablet') === true
  );
}

function machineTypeOf({ domain, architecture = 'amd64' }: InstanceSpec): {
  readonly machineType: MachineSpec['machineType'];
  readonly problems: readonly SpecProblem[];
} {
  const type = domain.machine?.type ?? 'q35';
  const problems: SpecProblem[] = [];
  if (architecture !== 'amd64')
    problems.push({
      field: 'spec.architecture',
      reason: `machines of architecture ${architecture} cannot run here`,
      wayOut: 'use amd64',
    });
  const machineType = machineTypes.find(([pattern]) => pattern.test(type))?.[1];
  if (machineType === undefined)
    problems.push({
      field: 'spec.domain.machine.type',
      reason: `machine type ${type} is unknown`,
      wayOut: 'use q35',
    });
  return { machineType: machineType ?? 'q35', problems };
}

/** Versioned names mean the newest of their kind. */
const machineTypes: readonly (readonly [RegExp, MachineSpec['machineType']])[] = [
  [/^$|^(pc-)?q35(-.+)?$/, 'q35'],
  [/^pc$|^pc-i440fx(-.+)?$/, 'pc'],
  [/^microvm$/, 'microvm'],
];

function cpuOf({ cpu = {}, resources }: DomainSpec): MachineCpu {
  const { cores = 1, threads = 1, maxSockets, model, features } = cpu;
  const sockets =
    cpu.sockets ?? (cpu.cores === undefined && cpu.threads === undefined ? vcpusOf(resources) : 1);
  return {
    sockets,
    cores,
    threads,
    ...(maxSockets === undefined ? {} : { maxSockets: Math.max(maxSockets, sockets) }),
    ...(model === undefined ? {} : { model }),
    ...(features === undefined
      ? {}
      : { features: features.map(({ name, policy }) => ({ name, policy: policyOf(policy) })) }),
  };
}

type FeaturePolicy = NonNullable<MachineCpu['features']>[number]['policy'];

const policies: readonly FeaturePolicy[] = ['force', 'require', 'optional', 'disable', 'forbid'];

/** Admission lets no other through. */
function policyOf(policy: string | undefined): FeaturePolicy {
  return policies.find((known) => known === policy) ?? 'require';
}

/** Without a topology the processors are those that are asked for as a resource. */
function vcpusOf(resources: DomainSpec['resources']): number {
  const amount = resources?.limits?.['cpu'] ?? resources?.requests?.['cpu'];
  return amount === undefined ? 1 : Math.max(1, wholeOf(amount));
}

function memoryOf(domain: DomainSpec): MachineMemory {
  const bytes = wholeOf(domain.memory?.guest ?? requestedMemoryOf(domain));
  const most = domain.memory?.maxGuest;
  return most === undefined ? { bytes } : { bytes, maxBytes: Math.max(bytes, wholeOf(most)) };
}

/** Admission sees to it that one of them is there. */
function requestedMemoryOf({ resources }: DomainSpec): QuantityText {
  return resources?.requests?.['memory'] ?? resources?.limits?.['memory'] ?? 0;
}

/** Of a quantity that admission has read already; rounded up. */
export function wholeOf(amount: QuantityText): number {
  return Number(quantityAsBigInt(parseQuantity(String(amount))));
}

/**
 * What outlives an instance is kept by the UID of its virtual machine: a clone has its own, and one that is made later under the
 * same name does not get the secrets of the one before.
 */
function firmwareOf({ firmware }: DomainSpec, persistentKey: string): Firmware {
  const efi = firmware?.bootloader?.efi;
  if (!efi) return { kind: 'bios' };
  const isSecureBoot = efi.secureBoot !== false;
  return { kind: 'efi', isSecureBoot, ...(efi.persistent === true ? { persistentKey } : {}) };
}

function identityOf({ firmware, chassis = {} }: DomainSpec, name: string): SystemIdentity {
  const { manufacturer, version, asset, sku } = chassis;
  return definedFields<SystemIdentity>({
    uuid: firmware?.uuid ?? systemUuidOf(name),
    serial: firmware?.serial ?? chassis.serial,
    manufacturer,
    version,
    sku,
    assetTag: asset,
  });
}

function watchdogOf({ devices }: DomainSpec): Pick<MachineSpec, 'watchdog'> {
  const { i6300esb } = devices.watchdog ?? {};
  if (!i6300esb) return {};
  const action = watchdogActions.find((known) => known === i6300esb.action) ?? 'reset';
  return { watchdog: { model: 'i6300esb', action } };
}

const watchdogActions: readonly Watchdog['action'][] = ['poweroff', 'reset', 'shutdown'];

function tpmOf({ devices: { tpm } }: DomainSpec, persistentKey: string): Pick<MachineSpec, 'tpm'> {
  if (!tpm || tpm.enabled === false) return {};
  return { tpm: tpm.persistent === true ? { persistentKey } : {} };
}
