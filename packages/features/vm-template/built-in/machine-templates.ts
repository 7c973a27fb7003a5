import type { KubeObject } from '@sheaf/api';
import type {
  VirtualMachineSpec,
  VirtualMachineTemplate,
  VirtualMachineTemplateVersion,
} from '@sheaf/api/virtualization/index';

export interface MachineTemplate {
  readonly template: VirtualMachineTemplate;
  readonly version: VirtualMachineTemplateVersion;
  /** What its guest does at its first start. */
  readonly secret: KubeObject | undefined;
}

type Domain = NonNullable<VirtualMachineSpec['template']['spec']>['domain'];
type Devices = Domain['devices'];
type Disk = NonNullable<Devices['disks']>[number];
type Volume = NonNullable<NonNullable<VirtualMachineSpec['template']['spec']>['volumes']>[number];

/** What sets one template apart from the others. */
interface Outline {
  /** `NAME-base-template`, `NAME-base-version`. */
  readonly name: string;
  readonly description: string;
  readonly isWindows: boolean;
  /** Sizes of the disks; without one for the CD-ROM the image is the disk itself. */
  readonly cdRomSize?: string;
  readonly diskSize: string;
}

const outlines: readonly Outline[] = [
  {
    name: 'iso-image',
    description: 'Installs a guest from an ISO image',
    isWindows: false,
    cdRomSize: '10Gi',
    diskSize: '10Gi',
  },
  {
    name: 'raw-image',
    description: 'Starts a guest from a disk image, qcow2 or raw',
    isWindows: false,
    diskSize: '10Gi',
  },
  {
    name: 'windows-iso-image',
    description: 'Installs Windows from an ISO image',
    isWindows: true,
    cdRomSize: '20Gi',
    diskSize: '32Gi',
  },
  {
    name: 'windows-raw-image',
    description: 'Starts Windows from a disk image, qcow2 or raw',
    isWindows: true,
    diskSize: '32Gi',
  },
];

/** The agent tells the addresses of the guest, and lets it be stopped in order. */
const userData = `#cloud-config
package_update: true
packages:
  - qemu-guest-agent
runcmd:
  - [systemctl, enable, --now, qemu-guest-agent.service]
`;

const driversImage = 'registry.suse.com/suse/vmdp/vmdp:2.5.4.3';

/** Templates to begin with, each with one version. */
export function machineTemplates(namespace: string): readonly MachineTemplate[] {
  return outlines.map((outline) => machineTemplate(namespace, outline));
}

function machineTemplate(namespace: string, outline: Outline): MachineTemplate {
  const { name, description, isWindows } = outline;
  const secretName = isWindows ? undefined : `${name}-template-userdata`;
  return {
    template: { metadata: { namespace, name: `${name}-base-template` }, spec: { description } },
    version: {
      metadata: {
        namespace,
        name: `${name}-base-version`,
        ...(secretName ? { annotations: { 'harvesterhci.io/default-userdata-secret': secretName } } : {}),
      },
      spec: {
        templateId: `${namespace}/${name}-base-template`,
        vm: { metadata: machineMetadata(outline), spec: machineSpec(outline, secretName) },
      },
    },
    secret: secretName ? userDataSecret(namespace, secretName) : undefined,
  };
}

function userDataSecret(namespace: string, name: string): KubeObject {
  return {
    metadata: { namespace, name, labels: { 'harvesterhci.io/cloud-init-template': 'harvester' } },
    type: 'secret',
    data: { networkdata: '', userdata: Buffer.from(userData).toString('base64') },
  };
}

function machineMetadata({ isWindows, cdRomSize, diskSize }: Outline): KubeObject['metadata'] {
  const claims = cdRomSize
    ? [claim('pvc-cdrom-disk', cdRomSize, true), claim('pvc-rootdisk', diskSize, false)]
    : [claim('pvc-rootdisk', diskSize, true)];
  return {
    ...(isWindows ? { labels: { 'harvesterhci.io/os': 'windows' } } : {}),
    annotations: {
      ...(isWindows ? { 'harvesterhci.io/reservedMemory': '256Mi' } : {}),
      'harvesterhci.io/volumeClaimTemplates': JSON.stringify(claims),
    },
  };
}

/** Whoever uses the template fills the image in. */
function claim(name: string, storage: string, isFromImage: boolean): object {
  return {
    metadata: { name, ...(isFromImage ? { annotations: { 'harvesterhci.io/imageId': '' } } : {}) },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage } }, volumeMode: 'Block' },
  };
}

function machineSpec(outline: Outline, secretName: string | undefined): VirtualMachineSpec {
  return {
    runStrategy: 'RerunOnFailure',
    template: {
      spec: {
        evictionStrategy: 'LiveMigrateIfPossible',
        domain: {
          features: { acpi: { enabled: true } },
          cpu: { cores: 1 },
          devices: devicesOf(outline),
          resources: { limits: { cpu: 1, memory: '2048Mi' } },
        },
        networks: [{ name: 'default', pod: {} }],
        volumes: volumesOf(outline, secretName),
      },
    },
  };
}

function devicesOf({ isWindows, cdRomSize }: Outline): Devices {
  const isInstalled = cdRomSize !== undefined;
  const interfaceModel = isWindows && isInstalled ? 'e1000' : 'virtio';
  return {
    disks: disksOf(isWindows, isInstalled),
    interfaces: [{ name: 'default', masquerade: {}, model: interfaceModel }],
    ...(isWindows && isInstalled ? { inputs: [{ bus: 'usb', name: 'tablet', type: 'tablet' }] } : {}),
  };
}

/** Linux prefers the disk once it is installed; Windows asks at the CD-ROM whether to start from it. */
function disksOf(isWindows: boolean, isInstalled: boolean): Disk[] {
  const root = (bootOrder: number): Disk => ({ name: 'rootdisk', bootOrder, disk: { bus: 'virtio' } });
  if (!isInstalled) return [root(1)];
  if (!isWindows) {
    return [{ name: 'cdrom-disk', bootOrder: 2, cdrom: { bus: 'sata', readonly: true } }, root(1)];
  }
  return [
    { name: 'cdrom-disk', bootOrder: 1, cdrom: { bus: 'sata' } },
    root(2),
    { name: 'virtio-container-disk', cdrom: { bus: 'sata' } },
  ];
}

function volumesOf({ isWindows, cdRomSize }: Outline, secretName: string | undefined): Volume[] {
  const claimed = (name: string): Volume => ({ name, persistentVolumeClaim: { claimName: `pvc-${name}` } });
  return [
    ...(cdRomSize ? [claimed('cdrom-disk')] : []),
    claimed('rootdisk'),
    ...(isWindows && cdRomSize
      ? [
          {
            name: 'virtio-container-disk',
            containerDisk: { image: driversImage, imagePullPolicy: 'IfNotPresent' },
          },
        ]
      : []),
    ...(secretName ? [{ name: 'cloudinitdisk', cloudInitNoCloud: { secretRef: { name: secretName } } }] : []),
  ];
}
