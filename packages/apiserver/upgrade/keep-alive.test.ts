import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { TestClock } from '@sheaf/testkit';
import type { WebSocket } from 'ws';
import { keepAlive } from './keep-alive.ts';

class HandSocket extends EventEmitter {
  isPaused = false;
  pings = 0;
  pongs = 0;
  isTerminated = false;

  ping(): void {
    this.pings++;
  }

  pong(): void {
    this.pongs++;
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

function kept(): { socket: HandSocket; clock: TestClock; end(): void } {
  const socket = new HandSocket();
  const clock = new TestClock();
  const alive = keepAlive(socket as unknown as WebSocket, clock);
  return { socket, clock, end: () => alive.dispose() };
}

describe('a WebSocket that is kept', () => {
  it('is pinged every ten seconds, and ended when nothing is heard for a minute', () => {
    const { socket, clock } = kept();
    clock.advance(59_000);
    assert.deepEqual([socket.pings, socket.isTerminated], [5, false]);
    clock.advance(1000);
    assert.deepEqual([socket.pings, socket.isTerminated], [5, true]);
    clock.advance(60_000);
    assert.equal(socket.pings, 5);
  });

  it('lives while it answers, sends, or may not send', () => {
    for (const act of [
      (socket: HandSocket) => socket.emit('pong'),
      (socket: HandSocket) => socket.emit('message'),
      (socket: HandSocket) => void (socket.isPaused = true),
    ]) {
      const { socket, clock, end } = kept();
      for (let minute = 0; minute < 10; minute++) {
        act(socket);
        clock.advance(30_000);
      }
      assert.equal(socket.isTerminated, false);
      end();
      clock.advance(600_000);
      assert.equal(socket.pings, 30);
    }
  });

  it('is told that it is heard, while it may not send', () => {
    const { socket, clock } = kept();
    socket.isPaused = true;
    clock.advance(30_000);
    assert.deepEqual([socket.pings, socket.pongs], [3, 3]);
  });
});
