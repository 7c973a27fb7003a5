import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { type Clock, type Disposable, disposable } from '@sheaf/base';

export const lookEveryMs = 2000;
/** Busy for less than this share of the time between two looks. */
const idleShare = 0.05;
/** What must have come since the last collection to be worth the pause of another, about 0.1 s. */
export const worthwhileBytes = 16 << 20;

/** What a process tells of itself. */
export interface ProcessMemory {
  /** The share of the time since the last call in which the process was busy, 0 to 1. */
  busyShare(): number;
  /** In use, what could be collected included. */
  usedBytes(): number;
  /** Frees all it can and gives it back to the system; nothing else runs meanwhile. */
  collect(): void;
}

/**
 * Gives memory back to the system when a busy time is over. V8 does so by itself only half a minute later and not
 * always, and until then holds up to three times what is in use.
 */
export function collectWhenIdle(clock: Clock, memory: ProcessMemory): Disposable {
  let kept = 0;
  let timer: Disposable | undefined;
  const look = (): void => {
    const isIdle = memory.busyShare() < idleShare;
    if (isIdle && memory.usedBytes() - kept > worthwhileBytes) {
      memory.collect();
      kept = memory.usedBytes();
    }
    plan();
  };
  const plan = (): void => {
    timer = clock.schedule(lookEveryMs, look);
  };
  plan();
  return disposable(() => timer?.dispose());
}

/** Of this process; `undefined` unless Node was started with `--expose-gc`, as scripts/sheaf.sh does. */
export function thisProcess(): ProcessMemory | undefined {
  const { gc } = globalThis;
  if (!gc) return undefined;
  let last = performance.eventLoopUtilization();
  return {
    busyShare() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    usedBytes() {
      const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
      return heap + external;
    },
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  };
}
