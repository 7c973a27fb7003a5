import { formatQuantity, parseQuantity, quantityAsBigInt, quantityOf } from '@sheaf/base';
import type {
  CpuSpec,
  DiskSpec,
  DomainSpec,
  InstanceSpec,
  InterfaceSpec,
  QuantityText,
  ResourceAmounts,
} from './instance-spec.ts';
import { reservedMemoryAnnotation } from './rules/harvester-rules.ts';
import {
  machineFinalizer,
  type RunStrategy,
  runStrategies,
  type VirtualMachine,
  type VirtualMachineInstance,
} from './virtual-machine.ts';

const lastStrategyAnnotation = 'harvesterhci.io/vmRunStrategy';
const hotplugAnnotation = 'harvesterhci.io/enableCPUAndMemoryHotplug';
const mebibyte = 2n ** 20n;
const hundred = 100n;

/** The cluster's settings that decide about new machines. */
export interface MachineDefaults {
  /** How many times the processors and the memory may be given out, in percent. */
  readonly overcommit: { readonly cpu: number; readonly memory: number };
  readonly terminationGracePeriodSeconds: number;
  /** Then nothing is taken from the guest for the process around it. */
  readonly hasMemoryOverheadRatio: boolean;
  /** How many times its processors and memory a machine may grow while it runs. */
  readonly maxHotplugRatio: number;
  /** A new hardware address: six bytes, locally administered. */
  readonly newMac: () => string;
}

/** A virtual machine as it is stored: with everything that the settings add. Done twice, it changes nothing more. */
export function completeMachine(
  machine: VirtualMachine,
  old: VirtualMachine | undefined,
  defaults: MachineDefaults,
): VirtualMachine {
  const withStrategy = keepStrategy(old ? machine : withFinalizer(machine), old);
  const { template } = withStrategy.spec;
  const spec = completeTemplate(template.spec, withStrategy, defaults);
  return { ...withStrategy, spec: { ...withStrategy.spec, template: { ...template, spec } } };
}

/** From its making on, so that its controller need not write it first. */
function withFinalizer(machine: VirtualMachine): VirtualMachine {
  const { finalizers = [] } = machine.metadata;
  if (finalizers.includes(machineFinalizer)) return machine;
  return { ...machine, metadata: { ...machine.metadata, finalizers: [...finalizers, machineFinalizer] } };
}

/** An instance as it is stored: each volume has its disk, each machine its network. */
export function completeInstance(instance: VirtualMachineInstance): VirtualMachineInstance {
  const { spec } = instance;
  const { domain } = spec;
  const isBare = hasNoNetwork(spec);
  const devices = {
    ...domain.devices,
    disks: completeDisks(spec),
    ...(isBare ? { interfaces: [{ name: 'default', masquerade: {} }] } : {}),
  };
  const machine = { ...domain.machine, type: domain.machine?.type ?? 'q35' };
  const networks = isBare ? { networks: [{ name: 'default', pod: {} }] } : {};
  return { ...instance, spec: { ...spec, ...networks, domain: { ...domain, machine, devices } } };
}

function hasNoNetwork({ domain, networks = [] }: InstanceSpec): boolean {
  const { interfaces = [], autoattachPodInterface } = domain.devices;
  return interfaces.length === 0 && networks.length === 0 && autoattachPodInterface !== false;
}

/** Each volume has its disk. */
export function completeDisks({ domain, volumes = [] }: InstanceSpec): readonly DiskSpec[] {
  const disks = domain.devices.disks ?? [];
  const listed = new Set(disks.map(({ name }) => name));
  return [...disks, ...volumes.filter(({ name }) => !listed.has(name)).map(({ name }) => ({ name }))];
}

/**
 * A machine that is started again gets the strategy that it had before it was halted, or `RerunOnFailure`: whoever starts it
 * asks for `Always` because that is all that the request can say. The last strategy is kept in an annotation.
 */
function keepStrategy(machine: VirtualMachine, old: VirtualMachine | undefined): VirtualMachine {
  const wanted = machine.spec.runStrategy;
  if (wanted === undefined || wanted === 'Halted') return machine;
  const isRestarted = old?.spec.runStrategy === 'Halted';
  const runStrategy = isRestarted ? lastStrategyOf(machine) : wanted;
  const annotations = { ...machine.metadata.annotations, [lastStrategyAnnotation]: runStrategy };
  return {
    ...machine,
    metadata: { ...machine.metadata, annotations },
    spec: { ...machine.spec, runStrategy },
  };
}

function lastStrategyOf({ metadata }: VirtualMachine): RunStrategy {
  const last = metadata.annotations?.[lastStrategyAnnotation];
  return runStrategies.find((strategy) => strategy === last && strategy !== 'Halted') ?? 'RerunOnFailure';
}

function completeTemplate(
  spec: InstanceSpec,
  machine: VirtualMachine,
  defaults: MachineDefaults,
): InstanceSpec {
  const { domain } = spec;
  const canGrow = machine.metadata.annotations?.[hotplugAnnotation] === 'true';
  const withMemory = completeMemory(domain, machine, defaults);
  const interfaces = domain.devices.interfaces?.map((each) => completeInterface(each, defaults));
  return {
    ...spec,
    terminationGracePeriodSeconds:
      spec.terminationGracePeriodSeconds ?? defaults.terminationGracePeriodSeconds,
    domain: {
      ...withMemory,
      ...cpuOf(machine, canGrow ? defaults.maxHotplugRatio : 1),
      ...requestsOf(withMemory, defaults),
      devices: { ...domain.devices, ...(interfaces ? { interfaces } : {}) },
    },
  };
}

/** With an instance type, the processors are its affair. */
function cpuOf({ spec }: VirtualMachine, ratio: number): Pick<DomainSpec, 'cpu'> {
  const { cpu } = spec.template.spec.domain;
  if (spec.instancetype !== undefined) return cpu ? { cpu } : {};
  return { cpu: completeCpu(cpu ?? {}, ratio) };
}

function completeCpu(cpu: CpuSpec, ratio: number): CpuSpec {
  const sockets = cpu.sockets ?? 1;
  const most = cpu.maxSockets ?? sockets * ratio;
  return {
    ...cpu,
    cores: cpu.cores ?? 1,
    sockets,
    threads: cpu.threads ?? 1,
    maxSockets: Math.max(most, sockets),
  };
}

function completeInterface(each: InterfaceSpec, { newMac }: MachineDefaults): InterfaceSpec {
  return each.macAddress === undefined || each.macAddress === '' ? { ...each, macAddress: newMac() } : each;
}

/** Without a size of its own the guest gets its limit, less what is reserved for the process around it. */
function completeMemory(
  domain: DomainSpec,
  { metadata }: VirtualMachine,
  { hasMemoryOverheadRatio }: MachineDefaults,
): DomainSpec {
  const limit = domain.resources?.limits?.['memory'];
  if (domain.memory?.guest !== undefined || limit === undefined) return domain;
  const reserved =
    metadata.annotations?.[reservedMemoryAnnotation] ?? (hasMemoryOverheadRatio ? '0' : '100Mi');
  const bytes = bytesOf(limit) - bytesOf(reserved);
  // With nothing left the limit stands, and validation names the reserve.
  const guest = bytes > 0n ? formatQuantity(quantityOf(bytes, 'BinarySI')) : limit;
  return { ...domain, memory: { ...domain.memory, guest } };
}

/** What a node has to keep free is the limit divided by how often it may be given out. */
function requestsOf(
  { resources, cpu }: DomainSpec,
  { overcommit }: MachineDefaults,
): Pick<DomainSpec, 'resources'> {
  const limits = resources?.limits;
  if (!limits || cpu?.dedicatedCpuPlacement === true) return resources ? { resources } : {};
  const requests: ResourceAmounts = {
    ...resources.requests,
    ...shareOf(limits, 'cpu', (limit) => cpuShare(limit, overcommit.cpu)),
    ...shareOf(limits, 'memory', (limit) => memoryShare(limit, overcommit.memory)),
  };
  return { resources: { ...resources, requests } };
}

function shareOf(
  limits: ResourceAmounts,
  name: string,
  share: (limit: QuantityText) => string,
): ResourceAmounts {
  const limit = limits[name];
  return limit === undefined ? {} : { [name]: share(limit) };
}

function cpuShare(limit: QuantityText, percent: number): string {
  const thousandths = (quantityAsBigInt(parseQuantity(String(limit)), -3) * hundred) / BigInt(percent);
  return formatQuantity({ unscaled: thousandths, scale: -3, format: 'DecimalSI', text: undefined });
}

function memoryShare(limit: QuantityText, percent: number): string {
  const bytes = (bytesOf(limit) * hundred) / BigInt(percent);
  return formatQuantity(quantityOf((bytes / mebibyte) * mebibyte, 'BinarySI'));
}

function bytesOf(amount: QuantityText): bigint {
  return quantityAsBigInt(parseQuantity(String(amount)));
}
