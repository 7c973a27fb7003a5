import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BoundedQueue } from './bounded-queue.ts';

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);

describe('a bounded queue', () => {
  it('lets the one who pushes wait for the one who pulls', async () => {
    const queue = new BoundedQueue(2);
    await queue.push(bytes(1, 2));
    let isThrough = false;
    const pushed = queue.push(bytes(3)).then(() => {
      isThrough = true;
    });
    await Promise.resolve();
    assert.equal(isThrough, false);
    const items = queue.items();
    assert.deepEqual((await items.next()).value, bytes(1, 2));
    await pushed;
    queue.end();
    await queue.push(bytes(4));
    assert.deepEqual(await Array.fromAsync(items), [bytes(3)]);
  });

  it('tells a failure after what came before it', async () => {
    const queue = new BoundedQueue(1);
    void queue.push(bytes(1, 2));
    queue.end(new Error('broken'));
    const items = queue.items();
    assert.deepEqual((await items.next()).value, bytes(1, 2));
    await assert.rejects(items.next(), /broken/);
  });

  it('lets nobody wait for one who has gone', async () => {
    const queue = new BoundedQueue(1);
    const pushed = queue.push(bytes(1, 2));
    for await (const _ of queue.items()) break;
    await pushed;
    await queue.push(bytes(1, 2, 3));
    const other = new BoundedQueue(1);
    const waiting = other.push(bytes(1, 2));
    other.dispose();
    await waiting;
    assert.deepEqual(await Array.fromAsync(other.items()), []);
  });
});
