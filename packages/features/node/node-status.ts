import type { NodeObject, ResourceQuantities } from '@sheaf/api/node/index';
import { formatQuantity, quantityOf } from '@sheaf/base';
import type { HostFacts } from '@sheaf/ports';
import { type ConditionFacts, nodeClaims, withClaims } from './node-conditions.ts';

type Status = NonNullable<NodeObject['status']>;

export interface StatusFacts extends ConditionFacts {
  readonly version: string;
  readonly now: string;
}

/** An eighth of the memory, at most this, is left to the host and to Sheaf. */
const keptMemoryBytes = 2 ** 30;
/** Of the disk, this share is left alone. */
const keptDiskShare = 0.1;
/** How many processes may open a device; it is not used up. */
const deviceSlots = '1k';
/** As on any node, unless it is told otherwise. */
const mostPods = '110';

/** What a node says of itself, from what its host has. */
export function nodeStatus(old: Status, facts: StatusFacts): Status {
  const { memoryBytes, disk } = facts.host;
  const all = { memoryBytes, storageBytes: disk?.totalBytes };
  const given = {
    memoryBytes: memoryBytes - Math.min(keptMemoryBytes, memoryBytes / 8),
    storageBytes: disk && disk.totalBytes * (1 - keptDiskShare),
  };
  return {
    ...old,
    capacity: roomOf(old.capacity, all, facts),
    allocatable: roomOf(old.allocatable, given, facts),
    addresses: addressesOf(facts.host),
    nodeInfo: infoOf(facts),
    conditions: withClaims(old.conditions ?? [], nodeClaims(facts), facts.now),
  };
}

interface Room {
  readonly memoryBytes: number;
  readonly storageBytes: number | undefined;
}

function roomOf(
  old: ResourceQuantities | undefined,
  { memoryBytes, storageBytes }: Room,
  facts: StatusFacts,
): ResourceQuantities {
  return {
    ...foreignResources(old),
    cpu: String(facts.host.cpuCount),
    memory: kibibytes(memoryBytes),
    ...(storageBytes === undefined ? {} : { 'ephemeral-storage': kibibytes(storageBytes) }),
    pods: facts.containers.areWanted ? mostPods : '0',
    ...devicesOf(facts),
  };
}

function infoOf({ host, containers, version }: StatusFacts): NonNullable<Status['nodeInfo']> {
  return {
    architecture: host.architecture,
    bootID: host.bootId ?? '',
    // `podman 4.3.1` as nodes tell it.
    containerRuntimeVersion: containers.version?.replace(' ', '://') ?? '',
    kernelVersion: host.kernelVersion ?? '',
    kubeProxyVersion: '',
    kubeletVersion: version,
    machineID: host.machineId ?? '',
    operatingSystem: host.operatingSystem,
    osImage: host.osImage ?? '',
    systemUUID: host.systemUuid ?? '',
  };
}

const ownResources = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'pods',
  'devices.kubevirt.io/kvm',
  'devices.kubevirt.io/tun',
]);

/** What others advertise on the node stays. */
function foreignResources(old: ResourceQuantities = {}): ResourceQuantities {
  return Object.fromEntries(Object.entries(old).filter(([name]) => !ownResources.has(name)));
}

/** Under emulation there is no `/dev/kvm` to be had, and without bridges no tap device. */
function devicesOf({ abilities }: StatusFacts): ResourceQuantities {
  const { hypervisor, accelerator, bridges } = abilities;
  return {
    ...(hypervisor.isAvailable && accelerator.kind === 'kvm'
      ? { 'devices.kubevirt.io/kvm': deviceSlots }
      : {}),
    ...(bridges.isAvailable ? { 'devices.kubevirt.io/tun': deviceSlots } : {}),
  };
}

/** One of each family, as clients expect, and the name that the host has now. */
function addressesOf({ addresses, hostname }: HostFacts): NonNullable<Status['addresses']> {
  const first = (['IPv4', 'IPv6'] as const)
    .map((family) => addresses.find((each) => each.family === family))
    .filter((found) => found !== undefined);
  return [
    ...first.map(({ address }) => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: hostname },
  ];
}

function kibibytes(bytes: number): string {
  return formatQuantity(quantityOf(Math.floor(bytes / 1024) * 1024, 'BinarySI'));
}
