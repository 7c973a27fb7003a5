import type { MachineDisk, MachineNic, TrustedPlatformModule, Watchdog } from './machine-devices.ts';

export interface MachineCpu {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
  /** Room for sockets that are added while it runs; at least `sockets`. */
  readonly maxSockets?: number;
  /** A model of the driver's list, `host-model` or `host-passthrough`; what the accelerator cannot give becomes its best. */
  readonly model?: string;
  readonly features?: readonly {
    readonly name: string;
    readonly policy: 'force' | 'require' | 'optional' | 'disable' | 'forbid';
  }[];
}

export interface MachineMemory {
  readonly bytes: number;
  /** Room for memory that is added while it runs. */
  readonly maxBytes?: number;
}

export type Firmware =
  | { readonly kind: 'bios' }
  | {
      readonly kind: 'efi';
      readonly isSecureBoot: boolean;
      /** Variables are kept when the machine ends, and found again by the next one with the same key. */
      readonly persistentKey?: string;
    }
  /** A firmware file instead of a boot loader. */
  | { readonly kind: 'file'; readonly path: string };

export interface KernelBoot {
  readonly kernelPath: string;
  readonly initrdPath?: string;
  readonly arguments?: string;
}

/** How the guest sees the machine it runs on. */
export interface SystemIdentity {
  /** SMBIOS system UUID. */
  readonly uuid: string;
  readonly serial?: string;
  readonly manufacturer?: string;
  readonly product?: string;
  readonly version?: string;
  readonly sku?: string;
  readonly family?: string;
  readonly assetTag?: string;
}

/**
 * One virtual machine to be run, without any word of the program that runs it. Values are checked by the caller; what the
 * program refuses is told by `start`.
 */
export interface MachineSpec {
  /** One run of one machine: the UID of its VirtualMachineInstance. Never used again for another run. */
  readonly id: string;
  /** `NAMESPACE/NAME`, for people who look at the host. */
  readonly title: string;
  readonly machineType: 'q35' | 'pc' | 'microvm';
  readonly cpu: MachineCpu;
  readonly memory: MachineMemory;
  readonly firmware: Firmware;
  readonly kernel?: KernelBoot;
  readonly identity: SystemIdentity;
  readonly disks: readonly MachineDisk[];
  readonly nics: readonly MachineNic[];
  readonly hasGraphics: boolean;
  readonly hasSerialConsole: boolean;
  readonly hasAgentChannel: boolean;
  readonly hasRandomSource: boolean;
  readonly hasBalloon: boolean;
  readonly hasTablet?: boolean;
  readonly watchdog?: Watchdog;
  readonly tpm?: TrustedPlatformModule;
  /** `utc` or a zone name. */
  readonly clock?: string;
  /** Which accelerator, if not the best that works. */
  readonly accelerator?: 'kvm' | 'tcg';
  /**
   * Instead of booting, it goes on with what `saveMemory` has kept there. Its disks must hold what they held at that moment; the
   * caller sees to it. A machine that differs otherwise is refused before anything is started.
   */
  readonly memoryPath?: string;
}
