import type { DiskFile } from './hypervisor/machine-devices.ts';

/** A file of one run of one machine: an image with given bytes, or an empty disk that the guest may write. */
export type MachineFile =
  | { readonly kind: 'seed'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: 'blank'; readonly name: string; readonly sizeBytes: number };

export interface EnsureOptions {
  /** A process has it open: it stays as it is, whatever it was to be. */
  readonly isInUse: boolean;
  readonly signal: AbortSignal;
}

/**
 * Files that belong to one run of one machine and end with it: seeds and scratch disks. Calls are idempotent, also after a crash
 * between any two of their steps: no file is ever seen half written. Seeds may hold secrets: only their owner can read them.
 */
export interface MachineFiles {
  /** Makes the file, or finds it. A seed has the given bytes; a scratch disk keeps what the guest wrote. */
  ensure(machineId: string, file: MachineFile, options: EnsureOptions): Promise<DiskFile>;
  /** All of them; nothing there: nothing to do. */
  remove(machineId: string, signal: AbortSignal): Promise<void>;
  /** The machines that have files, sorted. */
  list(signal: AbortSignal): Promise<readonly string[]>;
}
