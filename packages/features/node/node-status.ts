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

/** What a node says of itself, from what its host has. */
export function nodeStatus(old: Status, facts: StatusFacts): Status {
  const { host, abilities, version, now } = facts;
  const devices = devicesOf(facts);
  const storage = host.disk?.totalBytes;
  return {
    ...old,
    capacity: {
      ...foreignResources(old.capacity),
      cpu: String(host.cpuCount),
      memory: kibibytes(host.memoryBytes),
      ...(storage === undefined ? {} : { 'ephemeral-storage': kibibytes(storage) }),
      pods: '0',
      ...devices,
    },
    allocatable: {
      ...foreignResources(old.allocatable),
      cpu: String(host.cpuCount),
      memory: kibibytes(host.memoryBytes - Math.min(keptMemoryBytes, host.memoryBytes / 8)),
      ...(storage === undefined ? {} : { 'ephemeral-storage': kibibytes(storage * (1 - keptDiskShare)) }),
      pods: '0',
      ...devices,
    },
    addresses: addressesOf(host),
    nodeInfo: {
      architecture: host.architecture,
      bootID: host.bootId ?? '',
      containerRuntimeVersion: '',
      kernelVersion: host.kernelVersion ?? '',
      kubeProxyVersion: '',
      kubeletVersion: version,
      machineID: host.machineId ?? '',
      operatingSystem: host.operatingSystem,
      osImage: host.osImage ?? '',
      systemUUID: host.systemUuid ?? '',
    },
    conditions: withClaims(old.conditions ?? [], nodeClaims({ name: facts.name, host, abilities }), now),
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
