import type { Container, ContainerRestartRule, Pod } from '@sheaf/api/workload/index';
import type { ContainerEnd } from '@sheaf/ports';
import type { ContainerRun } from './run-ids.ts';

const firstRestMs = 10_000;
const longestRestMs = 300_000;
/** Who ran for that long has not crashed soon after its start. */
const longRunMs = 600_000;

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** A sidecar starts in its turn among the init containers, and runs on beside the others. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

/** One that somebody has put into a pod to look into it: it runs once. */
export function isEphemeral({ spec }: Pick<Pod, 'spec'>, { name }: Container): boolean {
  return (spec.ephemeralContainers ?? []).some((container) => container.name === name);
}

/** What an end means for a container: sidecars come back always, init containers only if they failed. */
export function policyOf({ spec }: Pod, container: Container, isInit: boolean): RestartPolicy {
  if (isEphemeral({ spec }, container)) return 'Never';
  if (isSidecar(container)) return 'Always';
  const policy = (container.restartPolicy ?? spec.restartPolicy ?? 'Always') as RestartPolicy;
  return isInit && policy === 'Always' ? 'OnFailure' : policy;
}

/** What an end of that kind means: rules about exit codes come before everything else. */
export function policyAfter(
  pod: Pod,
  container: Container,
  { isInit, end }: { readonly isInit: boolean; readonly end: ContainerEnd | undefined },
): RestartPolicy {
  const isMeant = (container.restartPolicyRules ?? []).some((rule) => isRestarted(rule, end));
  return isMeant ? 'Always' : policyOf(pod, container, isInit);
}

function isRestarted({ action, exitCodes }: ContainerRestartRule, end: ContainerEnd | undefined): boolean {
  if (action !== 'Restart' || end === undefined || !('exitCode' in end)) return false;
  const isNamed = (exitCodes?.values ?? []).includes(end.exitCode);
  return exitCodes?.operator === 'NotIn' ? !isNamed : isNamed;
}

export function hasSucceeded(end: ContainerEnd | undefined): boolean {
  return end?.cause === 'exited' && end.exitCode === 0;
}

/** `undefined`: it stays as it is. Else how long until it is started again. */
export function restartInMs(run: ContainerRun, policy: RestartPolicy, nowMs: number): number | undefined {
  const { end } = run.observed;
  if (policy === 'Never' || (policy === 'OnFailure' && hasSucceeded(end))) return undefined;
  return Math.max(0, endedAt(run) + restMs(run) - nowMs);
}

/** How long a container rests after a run: not at all the first time, then longer each time. */
export function restMs({ crashes }: ContainerRun): number {
  return crashes === 0 ? 0 : Math.min(longestRestMs, firstRestMs * 2 ** Math.min(crashes - 1, 10));
}

/** The count that goes with the run after this one. */
export function crashesAfter(run: ContainerRun): number {
  const { startedAt } = run.observed;
  const ranMs = startedAt === undefined ? 0 : endedAt(run) - startedAt;
  return ranMs >= longRunMs ? 0 : run.crashes + 1;
}

function endedAt({ observed }: ContainerRun): number {
  return observed.endedAt ?? observed.createdAt;
}
