/** A virtual machine as Harvester's page writes it. */
export interface MachineOptions {
  readonly name: string;
  /** Of the image that its disk is made from. */
  readonly storageClass: string;
  readonly imageId: string;
  readonly publicKey: string;
}

/** What a machine has beside what all have. */
export interface Extras {
  readonly domain?: object;
  readonly devices?: object;
  readonly ports?: readonly object[];
  readonly disks?: readonly object[];
  readonly volumes?: readonly object[];
}

export function harvesterMachine(
  { name, storageClass, imageId }: Omit<MachineOptions, 'publicKey'>,
  extras: Extras = {},
): object {
  const claim = {
    metadata: { name: `${name}-disk-0`, annotations: { 'harvesterhci.io/imageId': imageId } },
    spec: {
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: '3Gi' } },
      volumeMode: 'Block',
      storageClassName: storageClass,
    },
  };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name,
      namespace: 'default',
      labels: { 'harvesterhci.io/creator': 'harvester' },
      annotations: { 'harvesterhci.io/volumeClaimTemplates': JSON.stringify([claim]) },
    },
    spec: {
      runStrategy: 'RerunOnFailure',
      template: {
        metadata: { labels: { 'harvesterhci.io/vmName': name } },
        spec: templateSpec(name, extras),
      },
    },
  };
}

function templateSpec(name: string, extras: Extras): object {
  const { ports = [], disks = [], volumes = [] } = extras;
  return {
    evictionStrategy: 'LiveMigrateIfPossible',
    hostname: name,
    terminationGracePeriodSeconds: 5,
    domain: {
      machine: { type: 'q35' },
      cpu: { cores: 2, sockets: 1, threads: 1 },
      memory: { guest: '512Mi' },
      resources: { limits: { cpu: '2', memory: '612Mi' } },
      features: { acpi: { enabled: true } },
      ...extras.domain,
      devices: {
        ...extras.devices,
        inputs: [{ bus: 'usb', name: 'tablet', type: 'tablet' }],
        interfaces: [
          { name: 'default', model: 'virtio', masquerade: {}, ...(ports.length > 0 && { ports }) },
        ],
        disks: [
          { name: 'disk-0', bootOrder: 1, disk: { bus: 'virtio' } },
          { name: 'cloudinitdisk', disk: { bus: 'virtio' } },
          ...disks,
        ],
      },
    },
    networks: [{ name: 'default', pod: {} }],
    volumes: [
      { name: 'disk-0', persistentVolumeClaim: { claimName: `${name}-disk-0` } },
      { name: 'cloudinitdisk', cloudInitNoCloud: { secretRef: { name: `${name}-cloudinit` } } },
      ...volumes,
    ],
  };
}

/** The Secret that the machine's cloud-init data comes from. */
export function cloudInitSecret({ name, publicKey }: Pick<MachineOptions, 'name' | 'publicKey'>): object {
  const user = {
    name: 'debian',
    sudo: 'ALL=(ALL) NOPASSWD:ALL',
    shell: '/bin/bash',
    ssh_authorized_keys: [publicKey],
  };
  const userdata = { users: [user], runcmd: ['echo written-by-cloud-init > /var/lib/marker'] };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-cloudinit`, namespace: 'default' },
    stringData: { userdata: `#cloud-config\n${JSON.stringify(userdata)}\n` },
  };
}
