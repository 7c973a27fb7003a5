import type { OperationOrder } from './operation-order.ts';

/** A release as Helm tells it; nobody else works on it now. */
export interface ReleaseFacts {
  /** Of its newest revision; `undefined`: there is none. */
  readonly status: string | undefined;
  /** Its number; 0: there is none. */
  readonly revision: number;
  /** The chart of a release that was made by hand alone. */
  readonly foreignChart?: string;
  /** It was made by the very same order. */
  readonly isOfOrder: boolean;
  /** An earlier revision was deployed: there is something to go back to. */
  readonly hasDeployed: boolean;
  /** It is called failed because Helm was told to give up. */
  readonly wasCut: boolean;
}

export type ReleaseStep = 'nothing' | 'uninstall' | 'clear' | 'rollback' | 'upgrade' | 'refuse';

/**
 * What is done first; what follows is planned anew. An operation that was cut off leaves its release pending: a first one is taken
 * away, a later one goes back to what was deployed. A failed one is treated as the policy says. What is cleared for the next installation
 * goes without its hooks: they are for the end of what was there, and a hook that cannot run would keep its correction away for ever.
 */
export function planRelease(
  { kind, failurePolicy }: Pick<OperationOrder, 'kind' | 'failurePolicy'>,
  { status, isOfOrder, hasDeployed, wasCut }: Omit<ReleaseFacts, 'revision'>,
): ReleaseStep {
  if (status === undefined) return kind === 'delete' ? 'nothing' : 'upgrade';
  if (kind === 'delete') return 'uninstall';
  if (status === 'deployed') return isOfOrder ? 'nothing' : 'upgrade';
  if (status === 'failed' && !wasCut) return afterFailure[failurePolicy];
  return afterInterruption(status, hasDeployed);
}

function afterInterruption(status: string, hasDeployed: boolean): ReleaseStep {
  if (status === 'superseded') return 'upgrade';
  const isLater = status === 'pending-upgrade' || status === 'pending-rollback' || status === 'failed';
  // What is left: pending-install, uninstalling, uninstalled, unknown.
  return isLater && hasDeployed ? 'rollback' : 'clear';
}

const afterFailure = { abort: 'refuse', reinstall: 'uninstall', retry: 'upgrade' } as const;
