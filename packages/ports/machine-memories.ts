/** The memory of a machine in the care of this machine, in one file beside the disks. */
export interface MemoryObservation {
  readonly id: string;
  readonly title: string;
  /** `prepared`: room is set aside, and somebody may be writing. `kept`: it is whole, and stays so through a loss of power. */
  readonly state: 'prepared' | 'kept';
  /** Where it is, or is to be written. */
  readonly path: string;
  /** What it takes on the medium now. */
  readonly allocatedBytes: number;
}

/**
 * Room for what machines had in their memory, out of that for volumes. Calls are idempotent by id, also after a crash between any two
 * of their steps. Whoever writes a file may have one of the same name with `.part` behind it.
 */
export interface MachineMemories {
  list(signal: AbortSignal): Promise<readonly MemoryObservation[]>;
  /** Sets `bytes` aside until it is kept or removed. What does not fit is refused as `Forbidden`, with the figures. */
  prepare(
    order: { readonly id: string; readonly title: string; readonly bytes: number },
    signal: AbortSignal,
  ): Promise<MemoryObservation>;
  /** The file has been written: from now on it counts with what it takes. `NotFound`: there is no file. */
  keep(id: string, signal: AbortSignal): Promise<void>;
  /** Nothing there: nothing to do. */
  remove(id: string, signal: AbortSignal): Promise<void>;
}
