import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestClock } from '@sheaf/testkit';
import { Deadline } from './deadline.ts';

function begun(): { clock: TestClock; deadline: Deadline; hasPassed(): boolean } {
  const clock = new TestClock();
  const deadline = new Deadline();
  deadline.begin(clock, 10_000);
  return { clock, deadline, hasPassed: () => deadline.hasPassed(clock.monotonic()) };
}

describe('the deadline of an exchange', () => {
  it('passes after its time, unless it is lifted or was never begun', () => {
    const { clock, deadline, hasPassed } = begun();
    clock.advance(9999);
    assert.equal(hasPassed(), false);
    clock.advance(1);
    assert.equal(hasPassed(), true);
    deadline.lift();
    assert.equal(hasPassed(), false);
    assert.equal(new Deadline().hasPassed(clock.monotonic()), false);
  });

  it('is a minute for each piece of a body, also when it is lifted', () => {
    const { clock, deadline, hasPassed } = begun();
    deadline.lift();
    for (let piece = 0; piece < 3; piece++) {
      deadline.awaitClient();
      clock.advance(59_999);
      assert.equal(hasPassed(), false);
      deadline.clientSent();
      clock.advance(600_000);
      assert.equal(hasPassed(), false, 'the taker may need longer');
    }
    deadline.awaitClient();
    clock.advance(60_000);
    assert.equal(hasPassed(), true);
  });

  it('begins anew when a body is there', () => {
    const { clock, deadline, hasPassed } = begun();
    clock.advance(9000);
    deadline.clientSent();
    clock.advance(59_999);
    assert.equal(hasPassed(), false);
    clock.advance(1);
    assert.equal(hasPassed(), true);
  });
});
