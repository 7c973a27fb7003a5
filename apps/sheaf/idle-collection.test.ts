import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestClock } from '@sheaf/testkit';
import { collectWhenIdle, lookEveryMs, type ProcessMemory, worthwhileBytes } from './idle-collection.ts';

class FakeProcess implements ProcessMemory {
  share = 0;
  used = 0;
  collections = 0;

  busyShare(): number {
    return this.share;
  }

  usedBytes(): number {
    return this.used;
  }

  collect(): void {
    this.collections++;
    this.used /= 2;
  }
}

describe('the collection of an idle process', () => {
  it('waits until the process is idle', () => {
    const clock = new TestClock();
    const memory = new FakeProcess();
    collectWhenIdle(clock, memory);
    memory.used = 4 * worthwhileBytes;
    memory.share = 0.5;
    clock.advance(10 * lookEveryMs);
    assert.equal(memory.collections, 0);
    memory.share = 0;
    clock.advance(lookEveryMs);
    assert.equal(memory.collections, 1);
  });

  it('is done again only when enough has come since', () => {
    const clock = new TestClock();
    const memory = new FakeProcess();
    collectWhenIdle(clock, memory);
    memory.used = 4 * worthwhileBytes;
    clock.advance(lookEveryMs);
    memory.used += worthwhileBytes;
    clock.advance(10 * lookEveryMs);
    assert.equal(memory.collections, 1);
    memory.used += 1;
    clock.advance(10 * lookEveryMs);
    assert.equal(memory.collections, 2);
  });

  it('ends with its lifetime', () => {
    const clock = new TestClock();
    const memory = new FakeProcess();
    const collection = collectWhenIdle(clock, memory);
    memory.used = 4 * worthwhileBytes;
    collection.dispose();
    clock.advance(10 * lookEveryMs);
    assert.deepEqual([memory.collections, clock.nextDueMs], [0, undefined]);
  });
});
