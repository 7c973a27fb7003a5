import { createHash } from 'node:crypto';
import type { MachineNic, NicLink, PortForward } from '@sheaf/ports';
import type { InterfaceSpec, NetworkSpec } from './instance-spec.ts';
import type { SpecProblem } from './machine-spec.ts';
import { ownerUidOf, type VirtualMachineInstance } from './virtual-machine.ts';

/** The bridge of the host behind each network that has one, by the name of the network in the spec. */
export type NicLinks = ReadonlyMap<string, { readonly bridge: string }>;

export interface NicTranslation {
  readonly nics: readonly MachineNic[];
  readonly problems: readonly SpecProblem[];
  readonly warnings: readonly string[];
}

interface OneNic {
  readonly nic?: MachineNic;
  readonly problem?: SpecProblem;
  readonly warnings?: readonly string[];
}

/** The network cards of a machine; one on the pod network where nothing else is said. */
export function translateNics(instance: VirtualMachineInstance, links: NicLinks): NicTranslation {
  const { interfaces, networks } = withDefaultNic(instance);
  const byName = new Map(networks.map((network) => [network.name, network]));
  const present = interfaces.filter(({ state }) => state !== 'absent');
  const results = present.map((each, index) => {
    const place = {
      field: `spec.domain.devices.interfaces[${index}]`,
      network: byName.get(each.name),
      links,
    };
    return translateNic(each, { ...place, ownerUid: ownerUidOf(instance) ?? instance.metadata.uid ?? '' });
  });
  return {
    nics: results.flatMap(({ nic }) => (nic ? [nic] : [])),
    problems: results.flatMap(({ problem }) => (problem ? [problem] : [])),
    warnings: results.flatMap(({ warnings = [] }) => warnings),
  };
}

/** As KubeVirt: a machine whose spec names no card and no network gets one, unless it says that it wants none. */
function withDefaultNic({ spec }: VirtualMachineInstance): {
  readonly interfaces: readonly InterfaceSpec[];
  readonly networks: readonly NetworkSpec[];
} {
  const { interfaces = [], autoattachPodInterface } = spec.domain.devices;
  const { networks = [] } = spec;
  if (interfaces.length > 0 || networks.length > 0 || autoattachPodInterface === false)
    return { interfaces, networks };
  return {
    interfaces: [{ name: 'default', masquerade: {} }],
    networks: [{ name: 'default', pod: {} }],
  };
}

interface NicPlace {
  readonly field: string;
  readonly network: NetworkSpec | undefined;
  readonly links: NicLinks;
  readonly ownerUid: string;
}

function translateNic(spec: InterfaceSpec, place: NicPlace): OneNic {
  const { field } = place;
  const model = models.find((known) => known === (spec.model ?? 'virtio'));
  if (model === undefined)
    return {
      problem: { field: `${field}.model`, reason: `model ${spec.model} is unknown`, wayOut: 'use virtio' },
    };
  const link = linkOf(spec, place);
  if ('reason' in link) return { problem: link };
  const { bootOrder, state, macAddress } = spec;
  return {
    nic: {
      name: spec.name,
      model,
      mac: (macAddress ?? macOf(place.ownerUid, spec.name)).toLowerCase().replaceAll('-', ':'),
      link,
      ...(bootOrder === undefined ? {} : { bootOrder }),
      ...(state === 'down' ? { carrier: 'down' as const } : {}),
    },
    warnings: warningsOf(spec, link, field),
  };
}

const models: readonly MachineNic['model'][] = ['virtio', 'e1000', 'e1000e', 'rtl8139', 'ne2k_pci', 'pcnet'];

/** A bridge to the pod network has the same reach here as masquerading: there is no pod whose address it could take. */
function linkOf(spec: InterfaceSpec, { field, network, links }: NicPlace): NicLink | SpecProblem {
  if (!network)
    return {
      field: `${field}.name`,
      reason: `there is no network ${spec.name}`,
      wayOut: 'add it to spec.networks',
    };
  if (network.pod) {
    const cidr = network.pod.vmNetworkCIDR;
    const forwards = forwardsOf(spec);
    return {
      kind: 'user',
      ...(forwards.length > 0 ? { forwards } : {}),
      ...(cidr === undefined ? {} : { cidr }),
    };
  }
  const link = links.get(network.name);
  if (link) return { kind: 'bridge', bridge: link.bridge };
  return {
    field: `${field}.name`,
    reason: `network ${network.multus?.networkName ?? network.name} has no bridge on this node`,
    wayOut: 'create the network, or choose another',
  };
}

function forwardsOf({ ports = [] }: InterfaceSpec): readonly PortForward[] {
  return ports.map(({ port, protocol }) => ({
    protocol: protocol?.toUpperCase() === 'UDP' ? ('udp' as const) : ('tcp' as const),
    guestPort: port,
  }));
}

function warningsOf({ ports = [] }: InterfaceSpec, { kind }: NicLink, field: string): readonly string[] {
  return kind === 'bridge' && ports.length > 0 ? [`${field}.ports has no effect on a bridged network`] : [];
}

/** The same card of the same virtual machine has the same address, whatever instance it is in. Locally administered. */
export function macOf(ownerUid: string, nicName: string): string {
  const digest = createHash('sha256').update(`${ownerUid}/${nicName}`).digest();
  const bytes = [0x52, 0x54, 0x00, digest[0], digest[1], digest[2]];
  return bytes.map((byte = 0) => byte.toString(16).padStart(2, '0')).join(':');
}
