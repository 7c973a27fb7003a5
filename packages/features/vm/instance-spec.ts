import type { PlacementSpec } from '@sheaf/api/placement/index';

/**
 * The part of `VirtualMachineInstanceSpec` that this feature reads. Objects come as JSON that admission has let through: a field
 * may still hold a value that no rule foresaw, which `spec-coverage.ts` finds. Quantities are texts or numbers.
 */
export interface InstanceSpec extends PlacementSpec {
  readonly domain: DomainSpec;
  readonly volumes?: readonly VolumeSpec[] | undefined;
  readonly networks?: readonly NetworkSpec[] | undefined;
  readonly accessCredentials?: readonly AccessCredential[] | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly startStrategy?: 'Paused' | undefined;
  readonly hostname?: string | undefined;
  readonly subdomain?: string | undefined;
  readonly architecture?: string | undefined;
  readonly evictionStrategy?: string | undefined;
  readonly livenessProbe?: unknown;
}

export type QuantityText = string | number;
export type ResourceAmounts = Readonly<Record<string, QuantityText>>;

export interface DomainSpec {
  readonly cpu?: CpuSpec | undefined;
  readonly memory?:
    | { readonly guest?: QuantityText | undefined; readonly maxGuest?: QuantityText | undefined }
    | undefined;
  readonly resources?:
    | { readonly requests?: ResourceAmounts | undefined; readonly limits?: ResourceAmounts | undefined }
    | undefined;
  readonly machine?: { readonly type?: string | undefined } | undefined;
  readonly firmware?: FirmwareSpec | undefined;
  readonly clock?: ClockSpec | undefined;
  readonly chassis?: ChassisSpec | undefined;
  readonly features?: FeaturesSpec | undefined;
  readonly devices: DevicesSpec;
}

export interface CpuSpec {
  readonly sockets?: number | undefined;
  readonly cores?: number | undefined;
  readonly threads?: number | undefined;
  readonly maxSockets?: number | undefined;
  readonly model?: string | undefined;
  readonly features?: readonly { readonly name: string; readonly policy?: string | undefined }[] | undefined;
  readonly dedicatedCpuPlacement?: boolean | undefined;
}

export interface FirmwareSpec {
  readonly uuid?: string | undefined;
  readonly serial?: string | undefined;
  readonly bootloader?:
    | {
        readonly bios?: { readonly useSerial?: boolean | undefined } | undefined;
        readonly efi?:
          | { readonly secureBoot?: boolean | undefined; readonly persistent?: boolean | undefined }
          | undefined;
      }
    | undefined;
}

export interface ClockSpec {
  readonly utc?: { readonly offsetSeconds?: number | undefined } | undefined;
  readonly timezone?: string | undefined;
}

export interface ChassisSpec {
  readonly manufacturer?: string | undefined;
  readonly version?: string | undefined;
  readonly serial?: string | undefined;
  readonly asset?: string | undefined;
  readonly sku?: string | undefined;
}

export interface Switch {
  readonly enabled?: boolean | undefined;
}

export interface FeaturesSpec {
  readonly acpi?: Switch | undefined;
  readonly smm?: Switch | undefined;
}

export interface DevicesSpec {
  readonly disks?: readonly DiskSpec[] | undefined;
  readonly interfaces?: readonly InterfaceSpec[] | undefined;
  readonly inputs?:
    | readonly {
        readonly name?: string | undefined;
        readonly type?: string | undefined;
        readonly bus?: string | undefined;
      }[]
    | undefined;
  readonly tpm?:
    | { readonly persistent?: boolean | undefined; readonly enabled?: boolean | undefined }
    | undefined;
  readonly watchdog?:
    | {
        readonly name?: string | undefined;
        readonly i6300esb?: { readonly action?: string | undefined } | undefined;
        readonly diag288?: unknown;
      }
    | undefined;
  readonly rng?: unknown;
  readonly autoattachGraphicsDevice?: boolean | undefined;
  readonly autoattachSerialConsole?: boolean | undefined;
  readonly autoattachMemBalloon?: boolean | undefined;
  readonly autoattachPodInterface?: boolean | undefined;
  readonly autoattachInputDevice?: boolean | undefined;
}

export interface DiskTarget {
  readonly bus?: string | undefined;
  readonly readonly?: boolean | undefined;
}

export interface DiskSpec {
  readonly name: string;
  readonly disk?: DiskTarget | undefined;
  readonly cdrom?: DiskTarget | undefined;
  readonly lun?: DiskTarget | undefined;
  readonly bootOrder?: number | undefined;
  readonly cache?: string | undefined;
  readonly io?: string | undefined;
  readonly serial?: string | undefined;
  readonly shareable?: boolean | undefined;
  readonly blockSize?:
    | {
        readonly custom?: { readonly logical: number; readonly physical: number } | undefined;
        readonly matchVolume?: Switch | undefined;
      }
    | undefined;
}

export interface InterfaceSpec {
  readonly name: string;
  readonly model?: string | undefined;
  readonly macAddress?: string | undefined;
  readonly bootOrder?: number | undefined;
  readonly state?: 'up' | 'down' | 'absent' | undefined;
  readonly ports?:
    | readonly {
        readonly name?: string | undefined;
        readonly port: number;
        readonly protocol?: string | undefined;
      }[]
    | undefined;
  readonly masquerade?: object | undefined;
  readonly bridge?: object | undefined;
  readonly sriov?: object | undefined;
  readonly binding?: { readonly name: string } | undefined;
}

export interface NetworkSpec {
  readonly name: string;
  readonly pod?:
    | { readonly vmNetworkCIDR?: string | undefined; readonly vmIPv6NetworkCIDR?: string | undefined }
    | undefined;
  readonly multus?: { readonly networkName: string; readonly default?: boolean | undefined } | undefined;
}

export interface CloudInitSource {
  readonly userData?: string | undefined;
  readonly userDataBase64?: string | undefined;
  readonly secretRef?: { readonly name?: string | undefined } | undefined;
  readonly networkData?: string | undefined;
  readonly networkDataBase64?: string | undefined;
  readonly networkDataSecretRef?: { readonly name?: string | undefined } | undefined;
}

export interface ContainerDiskSource {
  readonly image?: string | undefined;
  readonly path?: string | undefined;
  readonly imagePullSecret?: string | undefined;
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
}

/** Exactly one of the sources is set. */
export interface VolumeSpec {
  readonly name: string;
  readonly persistentVolumeClaim?:
    | {
        readonly claimName: string;
        readonly readOnly?: boolean | undefined;
        readonly hotpluggable?: boolean | undefined;
      }
    | undefined;
  readonly dataVolume?: { readonly name: string; readonly hotpluggable?: boolean | undefined } | undefined;
  readonly containerDisk?: ContainerDiskSource | undefined;
  readonly emptyDisk?: { readonly capacity: QuantityText } | undefined;
  readonly hostDisk?:
    | {
        readonly path: string;
        readonly type: string;
        readonly capacity?: QuantityText | undefined;
        readonly shared?: boolean | undefined;
      }
    | undefined;
  readonly cloudInitNoCloud?: CloudInitSource | undefined;
  readonly cloudInitConfigDrive?: CloudInitSource | undefined;
  readonly sysprep?:
    | {
        readonly configMap?: { readonly name?: string | undefined } | undefined;
        readonly secret?: { readonly name?: string | undefined } | undefined;
      }
    | undefined;
  readonly configMap?: FileSource | undefined;
  readonly secret?: FileSource | undefined;
  readonly serviceAccount?: { readonly serviceAccountName?: string | undefined } | undefined;
  readonly downwardAPI?: { readonly volumeLabel?: string | undefined; readonly fields?: unknown } | undefined;
}

export interface FileSource {
  readonly name?: string | undefined;
  readonly secretName?: string | undefined;
  readonly volumeLabel?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface AccessCredential {
  readonly sshPublicKey?:
    | {
        readonly source: { readonly secret?: { readonly secretName: string } | undefined };
        readonly propagationMethod: {
          readonly noCloud?: object | undefined;
          readonly configDrive?: object | undefined;
          readonly qemuGuestAgent?: { readonly users?: readonly string[] | undefined } | undefined;
        };
      }
    | undefined;
  readonly userPassword?:
    | {
        readonly source: { readonly secret?: { readonly secretName: string } | undefined };
        readonly propagationMethod: { readonly qemuGuestAgent?: object | undefined };
      }
    | undefined;
}

/** The claim that a volume is on, if it is on one. A DataVolume's claim has its name. */
export function claimNameOf(volume: VolumeSpec): string | undefined {
  return volume.persistentVolumeClaim?.claimName ?? volume.dataVolume?.name;
}

/** May be plugged and unplugged while the guest runs. */
export function isHotpluggable(volume: VolumeSpec): boolean {
  return (volume.persistentVolumeClaim ?? volume.dataVolume)?.hotpluggable === true;
}
