import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StatusError } from '@sheaf/base';
import { settle } from '@sheaf/testkit/settle';
import { TestClock } from '@sheaf/testkit/test-clock';
import { untilLocked } from './file-guard.ts';

const limits = { startMs: 1000 };

function linkTelling(statuses: readonly string[]) {
  const left = [...statuses];
  const execute = () => Promise.resolve({ status: left.length > 1 ? (left.shift() ?? '') : (left[0] ?? '') });
  return { left, execute };
}

it('nothing is asked of a machine before its memory is in, since it has no locks until then', async () => {
  const clock = new TestClock();
  const link = linkTelling(['inmigrate', 'inmigrate', 'paused']);
  let isLocked = false;
  const done = untilLocked(link, { clock, limits }).then(() => (isLocked = true));
  await settle({ clock, until: () => Promise.resolve(isLocked) });
  await done;
  assert.deepEqual(link.left, ['paused']);
});

it('memory that does not come in holds nobody up for ever', async () => {
  const clock = new TestClock();
  let refusal: unknown;
  const done = untilLocked(linkTelling(['inmigrate']), { clock, limits }).catch((error: unknown) => {
    refusal = error;
  });
  await settle({ clock, until: () => Promise.resolve(refusal !== undefined) });
  await done;
  assert.ok(StatusError.is(refusal, 'ServerTimeout'));
  assert.match(refusal.message, /still being read: try again, or end the machine/);
});
