/** Where the bytes of a disk are. */
export interface DiskFile {
  /** Absolute path of a file or block device. */
  readonly path: string;
  readonly format: 'qcow2' | 'raw';
}

export interface DiskLimits {
  /** Bytes a second, all together. */
  readonly bytesPerSecond?: number;
  /** Operations a second, all together. */
  readonly operationsPerSecond?: number;
}

export interface MachineDisk {
  /** Unique within its machine: a DNS label. The same name is the same device for as long as the machine runs. */
  readonly name: string;
  readonly device: 'disk' | 'cdrom' | 'lun';
  readonly bus: 'virtio' | 'scsi' | 'sata' | 'usb';
  /** Absent: a CD-ROM drive without a medium. */
  readonly file?: DiskFile;
  readonly isReadOnly?: boolean;
  /** Several machines may open it at once; then no lock guards it. */
  readonly isShareable?: boolean;
  /** 1 boots first. */
  readonly bootOrder?: number;
  readonly cache?: 'none' | 'writethrough' | 'writeback';
  /** `native` needs cache `none`. */
  readonly io?: 'native' | 'threads';
  /** As the guest reads it; at most 20 characters on virtio. */
  readonly serial?: string;
  readonly logicalBlockBytes?: number;
  readonly physicalBlockBytes?: number;
  readonly limits?: DiskLimits;
  /** Passes the guest's discards on to the file, so that it shrinks. */
  readonly discards?: boolean;
}

export interface PortForward {
  readonly protocol: 'tcp' | 'udp';
  readonly guestPort: number;
}

/** What a network card is plugged into. */
export type NicLink =
  /** The pod network: the guest reaches the outside, never the host's loopback; what comes in comes through forwards. */
  | { readonly kind: 'user'; readonly forwards?: readonly PortForward[]; readonly cidr?: string }
  /** A bridge of the host, through a tap device that the driver makes and removes. */
  | { readonly kind: 'bridge'; readonly bridge: string };

export interface MachineNic {
  /** Unique within its machine: a DNS label. */
  readonly name: string;
  readonly model: 'virtio' | 'e1000' | 'e1000e' | 'rtl8139' | 'ne2k_pci' | 'pcnet';
  /** `aa:bb:cc:dd:ee:ff`. */
  readonly mac: string;
  readonly link: NicLink;
  readonly bootOrder?: number;
  /** Absent: up. */
  readonly carrier?: 'up' | 'down';
}

export interface Watchdog {
  readonly model: 'i6300esb';
  readonly action: 'poweroff' | 'reset' | 'shutdown';
}

/** A trusted platform module with its state in a directory of its own. */
export interface TrustedPlatformModule {
  /** Kept when the machine ends, and found again by the next one with the same key. */
  readonly persistentKey?: string;
}
