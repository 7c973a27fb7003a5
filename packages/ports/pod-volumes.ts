import type { Capability } from './capability.ts';
import type { DiskFile } from './hypervisor/index.ts';

export interface VolumeFile {
  /** Below the volume; without `..`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
}

/** What a pod mounts, without a word of where it comes from. */
export type PodVolumeSpec = {
  /** Unique in its pod: `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`. */
  readonly name: string;
  /** The group that owns it and may write to it; that of this process, if absent. */
  readonly group?: number;
} & (
  | {
      /** Files that change together: whoever reads sees all of the old ones or all of the new ones. */
      readonly kind: 'files';
      readonly files: readonly VolumeFile[];
    }
  | {
      readonly kind: 'directory';
      /** In memory it counts against the memory of the pod, and is gone with the host's power. */
      readonly medium: 'disk' | 'memory';
      /** In memory never more; on disk it is looked at (`usedBytes`). */
      readonly sizeBytes?: number;
    }
  | {
      /** Something of the host itself. */
      readonly kind: 'host';
      readonly path: string;
      /** As `hostPath.type`: what has to be there, or is made; empty: no matter what. */
      readonly type:
        | ''
        | 'Directory'
        | 'DirectoryOrCreate'
        | 'File'
        | 'FileOrCreate'
        | 'Socket'
        | 'CharDevice'
        | 'BlockDevice';
    }
  | {
      /** A volume of the `Volumes` port, with a file system that is made at its first use. */
      readonly kind: 'volume';
      readonly volumeId: string;
      /** The file with its content, in the format that it has. */
      readonly disk: DiskFile;
      readonly isReadOnly: boolean;
      readonly fileSystem: 'ext4' | 'xfs';
    }
);

export interface PodVolume {
  readonly name: string;
  /** Where containers mount it from. */
  readonly hostPath: string;
}

export interface PodVolumeCapabilities {
  readonly directories: Capability;
  /** Directories in memory. */
  readonly memory: Capability;
  /** Disks of machines and claims as file systems. */
  readonly disks: Capability;
}

/**
 * The directories and files of pods. Calls are idempotent; what was made is found again after a restart of this process. Calls
 * reject with a `StatusError` whose message says the way out: `BadRequest` for what cannot be, `Conflict` for a disk that somebody
 * else writes to, or that its volume has left (`Volumes.mayWrite`, asked with its lock held), `ServiceUnavailable` where the host
 * cannot do it, `NotFound` for what has to be there and is not.
 */
export interface PodVolumes {
  capabilities(): PodVolumeCapabilities;
  probe(signal: AbortSignal): Promise<PodVolumeCapabilities>;
  /** Makes it, or brings its files up to date; what it holds otherwise stays. */
  ensure(podUid: string, volume: PodVolumeSpec, signal: AbortSignal): Promise<PodVolume>;
  /** Those that are there, in the order of their names. */
  list(podUid: string, signal: AbortSignal): Promise<readonly PodVolume[]>;
  /** An empty file that one container writes its last words to; what an earlier run wrote is gone. */
  ensureMessageFile(podUid: string, runId: string, signal: AbortSignal): Promise<string>;
  /** The end of what a run wrote there, 4096 bytes at most; empty if nothing. */
  readMessage(podUid: string, runId: string, signal: AbortSignal): Promise<string>;
  /** Bytes on disk of a directory. */
  usedBytes(podUid: string, name: string, signal: AbortSignal): Promise<number>;
  /** Takes everything of a pod away: unmounts, ends what stands behind a mount, removes its files. A host path stays. */
  remove(podUid: string, signal: AbortSignal): Promise<void>;
  /** UIDs of the pods that have something here. */
  pods(signal: AbortSignal): Promise<readonly string[]>;
}
