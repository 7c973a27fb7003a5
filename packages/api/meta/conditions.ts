import type { Clock } from '@sheaf/base';

/** One entry of `status.conditions`. Types are adjectives or claims, reasons PascalCase causes, messages for people. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  /** RFC 3339 in seconds: when `status` became what it is. */
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

/** The object that something waits for. */
export interface WaitedFor {
  readonly kind: string;
  /** Empty at cluster scope. */
  readonly namespace: string;
  readonly name: string;
}

/** Why something is not in its goal state. */
export interface Waiting {
  /** PascalCase, names the cause. */
  readonly reason: string;
  /** One sentence without a full stop. */
  readonly text: string;
  /** `transient`: tried again by itself; `fault`: someone must act. */
  readonly nature: 'transient' | 'fault';
  /** What someone can do; for a fault always. */
  readonly wayOut?: string;
  readonly object?: WaitedFor;
}

/** The time now as objects carry it. */
export function timestampOf(clock: Pick<Clock, 'now'>): string {
  return `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
}

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The conditions with `next` among them: in the place of the one of its type, or last. A condition keeps its time as
 * long as its status stays. The very same list comes back if nothing changes.
 */
export function withCondition(
  conditions: readonly Condition[],
  next: Omit<Condition, 'lastTransitionTime'>,
  now: string,
): readonly Condition[] {
  const old = findCondition(conditions, next.type);
  if (!old) return [...conditions, { ...next, lastTransitionTime: now }];
  if (isSame(old, next)) return conditions;
  const time = old.status === next.status ? (old.lastTransitionTime ?? now) : now;
  const changed = { ...next, lastTransitionTime: time };
  return conditions.map((condition) => (condition === old ? changed : condition));
}

function isSame(old: Condition, next: Omit<Condition, 'lastTransitionTime'>): boolean {
  return (
    old.status === next.status &&
    old.reason === next.reason &&
    old.message === next.message &&
    (old.observedGeneration ?? 0) === (next.observedGeneration ?? old.observedGeneration ?? 0)
  );
}

/**
 * A condition that says what is waited for, in one wording for all of Sheaf:
 * `TEXT; waits for KIND NAMESPACE/NAME; tried again by itself`, or `…; needs someone: WAY OUT`.
 *
 * @public
 */
export function waitingCondition(
  claim: Pick<Condition, 'type' | 'status'>,
  waiting: Waiting,
): Omit<Condition, 'lastTransitionTime'> {
  const { object, text, nature, wayOut } = waiting;
  const parts = [text];
  if (object) parts.push(`waits for ${object.kind} ${nameOf(object)}`);
  if (nature === 'transient') parts.push('tried again by itself');
  else parts.push(`needs someone: ${wayOut ?? 'see the message'}`);
  return { ...claim, reason: waiting.reason, message: parts.join('; ') };
}

function nameOf({ namespace, name }: WaitedFor): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
