import type { Coverage, Refusal } from './spec-coverage.ts';

function refused(refusedBecause: string, wayOut: string): Refusal {
  return { refusedBecause, wayOut };
}

const passthrough = refused('devices of the host cannot be passed through', 'remove the device');
const dedicated = refused('processors cannot be dedicated to one machine', 'remove the field');

const diskTarget: Coverage = {
  bus: 'used',
  readonly: 'used',
  tray: 'settled',
  pciAddress: refused('addresses of PCI devices cannot be chosen', 'remove the field'),
  reservation: refused('SCSI reservations are not passed on', 'remove the field'),
};

/** All that is known of `VirtualMachineInstanceSpec`. What is not here has no effect and is named in a warning. */
export const instanceCoverage: Coverage = {
  accessCredentials: {
    sshPublicKey: 'used',
    userPassword: refused(
      'passwords are not set through the guest agent',
      'set it in the cloud-init user data',
    ),
  },
  affinity: 'used',
  architecture: 'used',
  evictionStrategy: 'settled',
  hostname: 'used',
  nodeSelector: 'used',
  startStrategy: 'used',
  subdomain: 'settled',
  terminationGracePeriodSeconds: 'used',
  tolerations: 'used',
  topologySpreadConstraints: 'used',
  schedulerName: 'settled',
  volumes: 'used',
  networks: 'used',
  domain: {
    cpu: {
      cores: 'used',
      sockets: 'used',
      threads: 'used',
      maxSockets: 'used',
      model: 'used',
      features: 'used',
      dedicatedCpuPlacement: dedicated,
      isolateEmulatorThread: dedicated,
      realtime: dedicated,
      numa: refused('the NUMA layout of the host is not passed on', 'remove the field'),
    },
    memory: {
      guest: 'used',
      maxGuest: 'used',
      hugepages: refused('huge pages are not reserved for machines', 'remove the field'),
    },
    resources: 'used',
    machine: { type: 'used' },
    firmware: {
      uuid: 'used',
      serial: 'used',
      bootloader: {
        bios: { useSerial: 'settled' },
        efi: { secureBoot: 'used', persistent: 'used' },
      },
      kernelBoot: refused('kernels from container images cannot be booted', 'boot from a disk'),
      acpi: refused('ACPI tables cannot be added', 'remove the field'),
    },
    clock: { utc: 'used', timezone: 'used', timer: 'settled' },
    chassis: 'used',
    features: {
      acpi: { enabled: 'used' },
      apic: 'settled',
      smm: { enabled: 'settled' },
    },
    launchSecurity: refused('encrypted guest memory is not available', 'remove the field'),
    devices: {
      disks: {
        name: 'used',
        disk: diskTarget,
        cdrom: diskTarget,
        lun: diskTarget,
        bootOrder: 'used',
        cache: 'used',
        io: 'used',
        serial: 'used',
        shareable: 'used',
        blockSize: 'used',
        dedicatedIOThread: 'settled',
      },
      interfaces: {
        name: 'used',
        model: 'used',
        macAddress: 'used',
        bootOrder: 'used',
        state: 'used',
        ports: 'used',
        masquerade: 'used',
        bridge: 'used',
        binding: 'used',
        sriov: passthrough,
      },
      inputs: { name: 'settled', type: 'used', bus: 'settled' },
      tpm: 'used',
      watchdog: {
        name: 'settled',
        i6300esb: 'used',
        diag288: refused('this watchdog is of another architecture', 'use i6300esb'),
      },
      rng: 'used',
      autoattachGraphicsDevice: 'used',
      autoattachSerialConsole: 'used',
      autoattachMemBalloon: 'used',
      autoattachPodInterface: 'used',
      autoattachInputDevice: 'used',
      networkInterfaceMultiqueue: 'settled',
      blockMultiQueue: 'settled',
      useVirtioTransitional: 'settled',
      filesystems: refused('folders cannot be shared with the guest', 'attach the volume as a disk'),
      gpus: passthrough,
      hostDevices: passthrough,
      clientPassthrough: passthrough,
    },
  },
};
