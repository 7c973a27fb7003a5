import { type Condition, findCondition, type Waiting, waitingCondition, withCondition } from '@sheaf/api';
import type { VirtualMachineInstance } from './virtual-machine.ts';

/** Of the virtual machine itself; all others are the instance's, as they are. */
const own: ReadonlySet<string> = new Set(['Ready', 'Failure', 'RestartRequired', 'ManualRecoveryRequired']);

export interface MachineConditionFacts {
  readonly instance: VirtualMachineInstance | undefined;
  /** Why the strategy cannot be carried out. */
  readonly fault: Waiting | undefined;
  /** The machine is still to be changed by its controller, which may have been refused. */
  readonly isChanging: boolean;
  /** Which change takes effect only with the next start. */
  readonly restartRequired: string | undefined;
  readonly now: string;
}

export function planMachineConditions(
  old: readonly Condition[],
  { instance, fault, isChanging, restartRequired, now }: MachineConditionFacts,
): readonly Condition[] {
  const ready = withReady(old, instance, now);
  const refused = isChanging ? old.find(isRefusal) : undefined;
  const condition = fault ? waitingCondition({ type: 'Failure', status: 'True' }, fault) : refused;
  const failure = withOptional(ready, 'Failure', condition && { condition, now });
  const restart = withOptional(
    failure,
    'RestartRequired',
    restartRequired === undefined
      ? undefined
      : { condition: { type: 'RestartRequired', status: 'True', message: restartRequired }, now },
  );
  return instance ? withCopies(restart, instance.status?.conditions ?? []) : restart;
}

const refusedReason = 'ChangeRefused';

function isRefusal({ type, reason }: Condition): boolean {
  return type === 'Failure' && reason === refusedReason;
}

/** What is to be seen of a machine whose controller was refused a change that the machine waits for; it stays until there is none. */
export function withRefusal(
  conditions: readonly Condition[],
  { words, now }: { readonly words: string; readonly now: string },
): readonly Condition[] {
  const waiting: Waiting = {
    reason: refusedReason,
    text: `What was asked of it cannot be written: ${words}`,
    nature: 'fault',
    wayOut: 'correct that; it is tried again by itself',
  };
  return withCondition(conditions, waitingCondition({ type: 'Failure', status: 'True' }, waiting), now);
}

function withReady(
  conditions: readonly Condition[],
  instance: VirtualMachineInstance | undefined,
  now: string,
): readonly Condition[] {
  const claim = { type: 'Ready', status: 'False' } as const;
  if (!instance) {
    const message = 'VMI does not exist';
    return withCondition(conditions, { ...claim, reason: 'VMINotExists', message }, now);
  }
  const ready = findCondition(instance.status?.conditions, 'Ready');
  if (!ready) {
    const message = 'VMI is missing the Ready condition';
    return withCondition(conditions, { ...claim, reason: 'VMIConditionMissing', message }, now);
  }
  return replaced(conditions, ready);
}

function withOptional(
  conditions: readonly Condition[],
  type: string,
  wanted: { readonly condition: Omit<Condition, 'lastTransitionTime'>; readonly now: string } | undefined,
): readonly Condition[] {
  return wanted
    ? withCondition(conditions, wanted.condition, wanted.now)
    : conditions.filter((condition) => condition.type !== type);
}

function withCopies(
  conditions: readonly Condition[],
  instanceConditions: readonly Condition[],
): readonly Condition[] {
  const copied = instanceConditions.filter(({ type }) => !own.has(type));
  const types = new Set(copied.map(({ type }) => type));
  const kept = conditions.filter(({ type }) => own.has(type) || types.has(type));
  return copied.reduce<readonly Condition[]>(replaced, kept);
}

function replaced(conditions: readonly Condition[], next: Condition): readonly Condition[] {
  const index = conditions.findIndex(({ type }) => type === next.type);
  return index < 0 ? [...conditions, next] : conditions.with(index, next);
}
