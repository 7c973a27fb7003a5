import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Condition, findCondition, timestampOf, waitingCondition, withCondition } from './conditions.ts';

const then = '2026-01-01T00:00:00Z';
const now = '2026-01-01T00:01:00Z';

describe('withCondition', () => {
  const ready: Condition = { type: 'Ready', status: 'False', reason: 'Starting', lastTransitionTime: then };

  it('adds, replaces in place and keeps the time of an unchanged status', () => {
    const added = withCondition([ready], { type: 'Live', status: 'True' }, now);
    assert.deepEqual(added, [ready, { type: 'Live', status: 'True', lastTransitionTime: now }]);
    const changed = withCondition(added, { type: 'Ready', status: 'False', reason: 'Waiting' }, now);
    assert.deepEqual(changed[0], { ...ready, reason: 'Waiting' });
    const turned = withCondition(changed, { type: 'Ready', status: 'True', reason: 'Done' }, now);
    assert.equal(findCondition(turned, 'Ready')?.lastTransitionTime, now);
  });

  it('gives the very same list if nothing changes', () => {
    const list = [ready];
    assert.equal(withCondition(list, { type: 'Ready', status: 'False', reason: 'Starting' }, now), list);
  });
});

describe('waitingCondition', () => {
  it('says what is waited for, and whether someone must act', () => {
    const claim = { type: 'Ready', status: 'False' } as const;
    const object = { kind: 'Secret', namespace: 'red', name: 'key' };
    assert.deepEqual(
      waitingCondition(claim, {
        reason: 'KeyMissing',
        text: 'the key is missing',
        nature: 'transient',
        object,
      }),
      {
        ...claim,
        reason: 'KeyMissing',
        message: 'the key is missing; waits for Secret red/key; tried again by itself',
      },
    );
    const fault = {
      reason: 'DiskFull',
      text: 'the disk is full',
      nature: 'fault',
      wayOut: 'free some',
    } as const;
    assert.equal(waitingCondition(claim, fault).message, 'the disk is full; needs someone: free some');
  });
});

it('timestampOf cuts to seconds', () => {
  assert.equal(timestampOf({ now: () => Date.parse('2026-01-01T00:00:00.999Z') }), then);
});
