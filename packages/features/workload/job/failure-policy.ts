import type { Job, Pod, PodFailurePolicyRule } from '@sheaf/api/workload/index';

/** What the policy of a job makes of a failed pod. */
export interface FailureJudgement {
  readonly action: 'Count' | 'FailIndex' | 'FailJob' | 'Ignore';
  /** Why the whole job fails. */
  readonly message: string;
}

/** `Count`: no rule applies, or the one that does says so. */
export function judgeFailure({ spec }: Job, pod: Pod): FailureJudgement {
  for (const [position, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const match = matchOf(rule, pod);
    if (match === undefined) continue;
    const message = `${match} matching ${rule.action} rule at index ${position}`;
    return { action: rule.action as FailureJudgement['action'], message };
  }
  return { action: 'Count', message: '' };
}

function matchOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  if (pod.status?.phase !== 'Failed') return undefined;
  return onExitCodes ? exitMatch(onExitCodes, pod) : conditionMatch(onPodConditions ?? [], pod);
}

function exitMatch(
  { containerName, operator, values }: NonNullable<PodFailurePolicyRule['onExitCodes']>,
  pod: Pod,
): string | undefined {
  const match = failedContainers(pod).find(
    ({ name, exitCode }) =>
      (containerName === undefined || containerName === name) &&
      values.includes(exitCode) === (operator === 'In'),
  );
  if (!match) return undefined;
  const { namespace, name } = pod.metadata;
  return `Container ${match.name} for pod ${namespace}/${name} failed with exit code ${match.exitCode}`;
}

function failedContainers({ status }: Pod): readonly { readonly name: string; readonly exitCode: number }[] {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return statuses
    .map(({ name, state }) => ({ name, exitCode: state?.terminated?.exitCode ?? 0 }))
    .filter(({ exitCode }) => exitCode !== 0);
}

function conditionMatch(
  patterns: readonly { readonly type: string; readonly status: string }[],
  { metadata, status }: Pod,
): string | undefined {
  const isThere = patterns.some(({ type, status: is }) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === is),
  );
  if (!isThere) return undefined;
  return `Pod ${metadata.namespace}/${metadata.name} has condition ${patterns[0]?.type}`;
}
