import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom, TestClock } from '@sheaf/testkit';
import { WorkQueue } from './work-queue.ts';

async function taken(queue: WorkQueue): Promise<string | undefined> {
  return Promise.race([queue.take(), Promise.resolve().then(() => Promise.resolve('nothing'))]);
}

describe('work queue', () => {
  it('holds a key once, however often it is added', async () => {
    const queue = new WorkQueue({ clock: new TestClock() });
    queue.add('a');
    queue.add('a');
    queue.add('b');
    assert.deepEqual([await queue.take(), await queue.take()], ['a', 'b']);
    assert.equal(queue.depth, 0);
  });

  it('gives a key added during its work again, afterwards', async () => {
    const queue = new WorkQueue({ clock: new TestClock() });
    queue.add('a');
    assert.equal(await queue.take(), 'a');
    queue.add('a');
    assert.equal(queue.depth, 0);
    queue.done('a');
    assert.equal(await queue.take(), 'a');
  });

  it('waits longer after each failure, and anew after a success', () => {
    const clock = new TestClock();
    const queue = new WorkQueue({ clock, baseDelayMs: 10, maximumDelayMs: 50 });
    const delays = (): number[] => Array.from({ length: 4 }, () => queue.addAfterFailure('a'));
    assert.deepEqual(delays(), [10, 20, 40, 50]);
    queue.forget('a');
    assert.equal(queue.addAfterFailure('a'), 10);
  });

  it('keeps the earlier of two times', async () => {
    const clock = new TestClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter('a', 100);
    queue.addAfter('a', 500);
    queue.addAfter('b', 500);
    queue.addAfter('b', 100);
    clock.advance(100);
    assert.deepEqual(new Set([await queue.take(), await queue.take()]), new Set(['a', 'b']));
    clock.advance(1000);
    queue.done('a');
    queue.done('b');
    assert.equal(queue.depth, 0);
  });

  it('sends waiting workers home when it is shut', async () => {
    const queue = new WorkQueue({ clock: new TestClock() });
    const waiting = queue.take();
    queue.dispose();
    queue.add('late');
    assert.deepEqual([await waiting, await queue.take()], [undefined, undefined]);
  });

  it('never gives a key to two workers and loses none, in any order of events', async () => {
    for (let seed = 0; seed < 200; seed++) await checkSchedule(seed);
  });
});

/** Random adds, takes and endings; at the end everything added has been worked on since it was last added. */
async function checkSchedule(seed: number): Promise<void> {
  const schedule = new Schedule(seed);
  for (let step = 1; step < 200; step++) await schedule.step(step);
  await schedule.end(1000);
}

class Schedule {
  readonly #seed: number;
  readonly #random: SeededRandom;
  readonly #clock = new TestClock();
  readonly #queue = new WorkQueue({ clock: this.#clock });
  readonly #added = new Map<string, number>();
  readonly #worked = new Map<string, number>();
  readonly #working = new Set<string>();

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new SeededRandom(seed);
  }

  async step(step: number): Promise<void> {
    const key = `k${this.#random.integer(6)}`;
    switch (this.#random.integer(4)) {
      case 0:
        this.#queue.add(key);
        this.#added.set(key, step);
        break;
      case 1:
        this.#queue.addAfter(key, this.#random.integer(50));
        this.#added.set(key, step);
        break;
      case 2:
        this.#clock.advance(this.#random.integer(30));
        break;
      default:
        if (this.#working.delete(key)) this.#queue.done(key);
        else if (this.#clock.nextDueMs === undefined) await this.#begin(step);
    }
  }

  async #begin(step: number): Promise<void> {
    if (this.#queue.depth === 0) return;
    const key = await taken(this.#queue);
    if (key === undefined || key === 'nothing') return;
    assert.ok(!this.#working.has(key), `${key} was given twice`);
    this.#working.add(key);
    this.#worked.set(key, step);
  }

  async end(step: number): Promise<void> {
    for (const key of this.#working) this.#queue.done(key);
    this.#clock.advance(1000);
    let last = await taken(this.#queue);
    while (last !== 'nothing' && last !== undefined) {
      this.#worked.set(last, step);
      this.#queue.done(last);
      last = await taken(this.#queue);
    }
    this.#check();
    this.#queue.dispose();
  }

  #check(): void {
    for (const [key, step] of this.#added)
      assert.ok(
        (this.#worked.get(key) ?? 0) >= step,
        `seed ${this.#seed}: ${key} was added at ${step} and last worked on at ${this.#worked.get(key)}`,
      );
  }
}
