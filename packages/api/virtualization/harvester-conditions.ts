import type { Condition } from './generated/harvester.ts';

/**
 * The conditions with `next` among them, in the way of `harvesterhci.io`: a change of status or message sets
 * `lastUpdateTime`, in seconds. The very same list comes back if nothing changes.
 */
export function withHarvesterCondition(
  conditions: readonly Condition[],
  next: Omit<Condition, 'lastUpdateTime' | 'lastTransitionTime'>,
  now: string,
): readonly Condition[] {
  const old = conditions.find(({ type }) => type === next.type);
  if (!old) return [...conditions, { ...next, lastUpdateTime: now }];
  if (textOf(old) === textOf(next) && (old.reason ?? '') === (next.reason ?? '')) return conditions;
  const lastUpdateTime = textOf(old) === textOf(next) ? (old.lastUpdateTime ?? now) : now;
  const changed = { ...old, ...next, lastUpdateTime };
  return conditions.map((condition) => (condition === old ? changed : condition));
}

function textOf({ status, message = '' }: Condition): string {
  return `${status} ${message}`;
}
