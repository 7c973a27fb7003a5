import type { KubeObject } from '@sheaf/api';
import { parse, stringify } from 'yaml';

/** An image that a disk begins with. */
export interface ImageChoice {
  /** `NAMESPACE/NAME`. */
  readonly id: string;
  readonly storageClassName: string;
  /** Virtual size. */
  readonly bytes: number;
}

export interface MachineChoice {
  readonly namespace: string;
  readonly name: string;
  readonly cpu: number;
  /** A quantity: `2Gi`. */
  readonly memory: string;
  readonly image?: ImageChoice | undefined;
  /** Sizes, the first that of the disk that it boots from. */
  readonly disks: readonly string[];
  /** `NAMESPACE/NAME` of network definitions; none: the pod network. */
  readonly networks: readonly string[];
  /** Lines of `authorized_keys`. */
  readonly sshKeys: readonly string[];
  /** `NAMESPACE/NAME` of the key pairs that some of the lines are from. */
  readonly keyPairs: readonly string[];
  readonly userData?: string | undefined;
  readonly runStrategy: string;
}

/** What would be in an instance as it is; more goes into a Secret. */
const inlineLimit = 2048;

/** The objects to be made, in this order, as Harvester's page would write them. @throws Error with the way out */
export function machineManifests(choice: MachineChoice): readonly KubeObject[] {
  const { namespace, name } = choice;
  const userData = userDataOf(choice);
  const encoded = Buffer.from(userData ?? '').toString('base64');
  const isLong = encoded.length > inlineLimit;
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: `${name}-cloud-init` },
    data: { userdata: encoded },
  };
  const seed = isLong ? { secretRef: { name: `${name}-cloud-init` } } : { userData };
  return [...(isLong ? [secret] : []), machineOf(choice, userData === undefined ? undefined : seed)];
}

function machineOf(choice: MachineChoice, seed: object | undefined): KubeObject {
  const { namespace, name, runStrategy, keyPairs } = choice;
  const claims = choice.disks.map((size, index) => claimOf(choice, size, index));
  const annotations = keyPairs.length > 0 ? { 'harvesterhci.io/sshNames': JSON.stringify(keyPairs) } : {};
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      namespace,
      name,
      annotations: { 'harvesterhci.io/volumeClaimTemplates': JSON.stringify(claims) },
    },
    spec: {
      runStrategy,
      template: {
        metadata: { labels: { 'harvesterhci.io/vmName': name }, annotations },
        spec: templateSpec(choice, seed),
      },
    },
  };
}

function templateSpec(choice: MachineChoice, seed: object | undefined): object {
  const { name, cpu, memory, disks } = choice;
  const nics = nicsOf(choice);
  const names = disks.map((_, index) => `disk-${index}`);
  return {
    hostname: name,
    domain: {
      cpu: { sockets: 1, cores: cpu, threads: 1 },
      memory: { guest: memory },
      resources: { limits: { cpu: String(cpu), memory } },
      features: { acpi: { enabled: true } },
      devices: {
        disks: [
          ...names.map((disk, index) => ({ name: disk, bootOrder: index + 1, disk: { bus: 'virtio' } })),
          ...(seed ? [{ name: 'cloudinitdisk', disk: { bus: 'virtio' } }] : []),
        ],
        interfaces: nics.map(({ nic }) => nic),
      },
    },
    networks: nics.map(({ network }) => network),
    volumes: [
      ...names.map((disk) => ({ name: disk, persistentVolumeClaim: { claimName: `${name}-${disk}` } })),
      ...(seed ? [{ name: 'cloudinitdisk', cloudInitNoCloud: seed }] : []),
    ],
  };
}

function nicsOf({ networks }: MachineChoice): readonly { readonly nic: object; readonly network: object }[] {
  if (networks.length === 0)
    return [
      {
        nic: { name: 'default', model: 'virtio', masquerade: {} },
        network: { name: 'default', pod: {} },
      },
    ];
  return networks.map((networkName, index) => {
    const name = `nic-${index}`;
    return { nic: { name, model: 'virtio', bridge: {} }, network: { name, multus: { networkName } } };
  });
}

function claimOf({ name, image }: MachineChoice, storage: string, index: number): object {
  const content = index === 0 ? image : undefined;
  return {
    metadata: {
      name: `${name}-disk-${index}`,
      ...(content ? { annotations: { 'harvesterhci.io/imageId': content.id } } : {}),
    },
    spec: {
      accessModes: ['ReadWriteMany'],
      volumeMode: 'Block',
      resources: { requests: { storage } },
      ...(content ? { storageClassName: content.storageClassName } : {}),
    },
  };
}

const header = '#cloud-config';

/** The user's own, with the keys among it. */
function userDataOf({ userData, sshKeys }: MachineChoice): string | undefined {
  if (sshKeys.length === 0) return userData;
  const config = userData === undefined ? {} : configOf(userData);
  const own = Array.isArray(config['ssh_authorized_keys'])
    ? (config['ssh_authorized_keys'] as unknown[])
    : [];
  const merged = { ...config, ssh_authorized_keys: [...own, ...sshKeys] };
  return `${header}\n${stringify(merged)}`;
}

function configOf(text: string): Record<string, unknown> {
  const wayOut = 'Put the keys into the user data yourself, or make it a #cloud-config.';
  if (!text.trimStart().startsWith(header))
    throw new Error(`--ssh-key can only be added to user data that is a ${header}. ${wayOut}`);
  const config = parse(text) as unknown;
  if (config === null) return {};
  if (typeof config === 'object' && !Array.isArray(config)) return config as Record<string, unknown>;
  throw new Error(`the user data is no mapping of cloud-init. ${wayOut}`);
}

export function asYaml(objects: readonly KubeObject[]): string {
  return objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
}
