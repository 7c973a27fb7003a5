import { type Waiting, waitingCondition } from '@sheaf/api';
import type { Addon } from '@sheaf/api/virtualization/index';
import type { AddonMark, AddonPlan } from './plan.ts';

type AddonCondition = NonNullable<NonNullable<Addon['status']>['conditions']>[number];
type Claim = Pick<AddonCondition, 'type' | 'status' | 'reason' | 'message'>;

/** The add-on with the status that is planned; `undefined` if it has it. */
export function planAddonStatus(addon: Addon, { state, mark }: AddonPlan, now: string): Addon | undefined {
  const before = addon.status?.conditions ?? [];
  const claims = claimsOf(mark);
  const conditions = claims.reduce((all, claim) => withClaim(all, claim, now), before);
  if (conditions === before && (addon.status?.status ?? '') === state) return undefined;
  return { ...addon, status: { ...addon.status, status: state, conditions: [...conditions] } };
}

/** The three marks, as they are on the wire; reasons and messages say more than the original's. */
function claimsOf(mark: AddonMark): readonly Claim[] {
  const done = (words = ''): Claim => ({ type: 'Completed', status: 'True', reason: '', message: words });
  const not = (type: string): Claim => ({ type, status: 'False', reason: '', message: '' });
  switch (mark.kind) {
    case 'completed':
      return [done(mark.words), not('InProgress'), not('OperationFailed')];
    case 'in-progress':
      return [not('Completed'), progressOf(mark), not('OperationFailed')];
    case 'failing':
      return [not('Completed'), progressOf(mark), failureOf(mark.waiting)];
    case 'failed':
      return [not('Completed'), not('InProgress'), failureOf(mark.waiting)];
  }
}

function failureOf(waiting: Waiting): Claim {
  const { message = '' } = sentence(waiting);
  return {
    type: 'OperationFailed',
    status: 'True',
    reason: 'Error',
    message: `${waiting.reason}: ${message}`,
  };
}

function progressOf({ waiting, words }: Extract<AddonMark, { kind: 'in-progress' | 'failing' }>): Claim {
  if (!waiting) return { type: 'InProgress', status: 'True', reason: '', message: words };
  const { message = '' } = sentence(waiting);
  return { type: 'InProgress', status: 'True', reason: waiting.reason, message: `${words}; ${message}` };
}

/** What comes from a chart has its nature and its way out in it already. */
function sentence(waiting: Waiting): { readonly message?: string } {
  const isWhole = waiting.text.includes('needs someone: ') || waiting.text.includes('tried again by itself');
  if (isWhole) return { message: waiting.text };
  return waitingCondition({ type: 'InProgress', status: 'True' }, waiting);
}

/** A change of status, reason or message sets the time of the update. The very same list comes back if nothing changes. */
function withClaim(
  conditions: readonly AddonCondition[],
  claim: Claim,
  now: string,
): readonly AddonCondition[] {
  const old = conditions.find(({ type }) => type === claim.type);
  if (!old) return [...conditions, { ...claim, lastUpdateTime: now }];
  const isSame =
    old.status === claim.status &&
    (old.reason ?? '') === claim.reason &&
    (old.message ?? '') === claim.message;
  if (isSame) return conditions;
  return conditions.map((each) => (each === old ? { ...old, ...claim, lastUpdateTime: now } : each));
}
