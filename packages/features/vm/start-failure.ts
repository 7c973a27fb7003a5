import { timestampOf } from '@sheaf/api';
import {
  hasEverRun,
  isDeleting,
  isFinal,
  type RunStrategy,
  type StartFailure,
  type VirtualMachineInstance,
} from './virtual-machine.ts';

const stepSeconds = 10;
const longestSeconds = 300;
/** Strategies under which a start that failed is shown as one; the others do not start by themselves. */
const counting: ReadonlySet<RunStrategy> = new Set(['Always', 'RerunOnFailure', 'Once']);

export interface StartFailureFacts {
  readonly strategy: RunStrategy;
  readonly instance: VirtualMachineInstance | undefined;
  readonly nowMs: number;
  /** From 0 to below 1: how much of the random part is added, so that machines do not all try again at once. */
  readonly jitter: number;
}

/** Seconds until the next start after `failures` starts in a row that never came to run: 10·n² and up to half more, at most 300. */
export function backOffSeconds(failures: number, jitter: number): number {
  const base = stepSeconds * Math.max(1, failures) ** 2;
  const random = Math.floor(jitter * (Math.floor(base / 2) + 1));
  return Math.min(longestSeconds, base + random);
}

/** Each instance that ended before it ever ran counts once, by its UID; one that ran ends the count. */
export function planStartFailure(
  old: StartFailure | undefined,
  { strategy, instance, nowMs, jitter }: StartFailureFacts,
): StartFailure | undefined {
  if (!counting.has(strategy)) return undefined;
  if (!instance) return old;
  if (hasEverRun(instance)) return undefined;
  // One whose end was asked for did not fail.
  const hasFailed = isFinal(instance) && !isDeleting(instance);
  const uid = instance.metadata.uid ?? '';
  return !hasFailed || old?.lastFailedVMIUID === uid ? old : nextFailure(old, { uid, nowMs, jitter });
}

function nextFailure(
  old: StartFailure | undefined,
  { uid, nowMs, jitter }: { readonly uid: string; readonly nowMs: number; readonly jitter: number },
): StartFailure {
  const consecutiveFailCount = (old?.consecutiveFailCount ?? 0) + 1;
  const retryAt = nowMs + backOffSeconds(consecutiveFailCount, jitter) * 1000;
  return {
    consecutiveFailCount,
    lastFailedVMIUID: uid,
    retryAfterTimestamp: timestampOf({ now: () => retryAt }),
  };
}

/** How long no start is to be tried yet. */
export function backOffLeftMs(failure: StartFailure | undefined, nowMs: number): number {
  return failure ? Math.max(0, Date.parse(failure.retryAfterTimestamp) - nowMs) : 0;
}
