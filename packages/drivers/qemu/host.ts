import type { Clock, Logger, Random } from '@sheaf/base';
import type { FileGuard } from './file-guard.ts';
import type { HostPrograms } from './host-programs.ts';
import type { Launcher } from './launcher.ts';
import type { PersistentState } from './persistent-state.ts';

/** How long anything may take. Milliseconds and bytes. */
export interface QemuLimits {
  /** From the launch of a process to its first answer. */
  readonly startMs: number;
  /** For an answer; after it a machine counts as unresponsive. */
  readonly answerMs: number;
  /** Between two questions whether a machine still answers. */
  readonly heartbeatMs: number;
  /** For a process to end after it was told to, before it is killed; and again after that. */
  readonly endMs: number;
  readonly agentMs: number;
  readonly serialLogBytes: number;
  /** Parts of the serial log put aside that are kept. */
  readonly serialLogParts: number;
}

export const defaultLimits: QemuLimits = {
  startMs: 60_000,
  answerMs: 5000,
  heartbeatMs: 5000,
  endMs: 5000,
  agentMs: 10_000,
  serialLogBytes: 1024 * 1024,
  serialLogParts: 4,
};

/** What all machines of one driver share. */
export interface MachineHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly limits: QemuLimits;
  readonly bootId: string;
  readonly persistent: PersistentState;
  readonly launcher: Launcher;
  /** What was found by the last look. */
  readonly programs: () => HostPrograms;
  readonly accelerator: () => 'kvm' | 'tcg';
  /** By what the owner of a file knows of it; `Machine.mayWrite` looks also at what is open. */
  readonly mayWrite: FileGuard;
  readonly announce: (id: string) => void;
}
