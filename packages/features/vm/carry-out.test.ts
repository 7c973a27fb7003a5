import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StatusError } from '@sheaf/base';
import { untilFresh } from './carry-out.ts';

const stale = new StatusError({
  reason: 'Conflict',
  message:
    'Operation cannot be fulfilled on virtualmachines.kubevirt.io "a": the object has been modified; please apply your changes to the latest version and try again',
});

it('what was decided on an object that has changed since is decided again, a few times', async () => {
  let attempts = 0;
  const settled = await untilFresh(() => {
    attempts++;
    return attempts < 3 ? Promise.reject(stale) : Promise.resolve('done');
  });
  assert.deepEqual([settled, attempts], ['done', 3]);
  attempts = 0;
  const never = untilFresh(() => {
    attempts++;
    return Promise.reject(stale);
  });
  await assert.rejects(never, stale);
  assert.equal(attempts, 5);
});

it('a refusal stays one', async () => {
  let attempts = 0;
  const refusal = new StatusError({ reason: 'Conflict', message: 'VM is already running' });
  const refused = untilFresh(() => {
    attempts++;
    return Promise.reject(refusal);
  });
  await assert.rejects(refused, refusal);
  assert.equal(attempts, 1);
});
