import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import {
  base64Frames,
  binaryFrames,
  type FrameCodec,
  textFrames,
  type WebSocketLike,
  WebSocketStream,
} from './web-socket-stream.ts';

/** A socket whose other side is the test. */
class HandSocket extends EventEmitter implements WebSocketLike {
  bufferedAmount = 0;
  isPaused = false;
  readonly sent: (Uint8Array | string)[] = [];
  readonly closes: unknown[] = [];
  #flush: (() => void)[] = [];

  send(data: Uint8Array | string, sent: (error?: Error | null) => void): void {
    this.sent.push(data);
    this.bufferedAmount += data.length;
    this.#flush.push(() => sent());
  }

  flush(): void {
    this.bufferedAmount = 0;
    for (const done of this.#flush.splice(0)) done();
  }

  close(code?: number, reason?: string): void {
    this.closes.push([code, reason]);
  }

  terminate(): void {
    this.closes.push('terminated');
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  receive(text: string, isBinary = true): void {
    this.emit('message', Buffer.from(text), isBinary);
  }
}

function opened<T>(codec: FrameCodec<T>): { socket: HandSocket; stream: WebSocketStream<T> } {
  const socket = new HandSocket();
  return { socket, stream: new WebSocketStream(socket, codec) };
}

async function all<T>(stream: WebSocketStream<T>): Promise<string[]> {
  return (await Array.fromAsync(stream.readable)).map(String);
}

describe('a WebSocket as a stream', () => {
  it('takes nothing in while nobody reads, and goes on afterwards', async () => {
    const { socket, stream } = opened(binaryFrames);
    socket.receive('a');
    assert.equal(socket.isPaused, true);
    const reader = stream.readable[Symbol.asyncIterator]();
    assert.equal(String((await reader.next()).value), 'a');
    assert.equal(socket.isPaused, false);
  });

  it('lets writers wait for a slow reader', async () => {
    const { socket, stream } = opened(binaryFrames);
    await stream.write(Buffer.alloc(1000));
    let isWritten = false;
    const writing = stream.write(Buffer.alloc(300 * 1024)).then(() => {
      isWritten = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isWritten, false);
    socket.flush();
    await writing;
  });

  it('ends after what was sent before the end', async () => {
    const { socket, stream } = opened(textFrames);
    socket.receive('last');
    socket.emit('close', 1000, Buffer.alloc(0));
    assert.deepEqual(await all(stream), ['last']);
    await assert.rejects(stream.write('late'), /closed/);
  });

  it('fails where the other side went with a fault', async () => {
    for (const [code, reason, expected] of [
      [1006, '', /broke off/],
      [1011, 'no guest', /closed with code 1011: no guest/],
    ] as const) {
      const { socket, stream } = opened(binaryFrames);
      socket.emit('close', code, Buffer.from(reason));
      await assert.rejects(all(stream), expected);
    }
  });

  it('takes a close frame without a code, and one of a server that stops, for an end', async () => {
    for (const code of [1001, 1005]) {
      const { socket, stream } = opened(binaryFrames);
      socket.emit('close', code, Buffer.alloc(0));
      assert.deepEqual(await all(stream), []);
    }
  });

  it('shortens a reason to what a close frame holds, between characters', () => {
    const { socket, stream } = opened(binaryFrames);
    stream.fail(1011, 'ä'.repeat(100));
    assert.deepEqual(socket.closes, [[1011, 'ä'.repeat(61)]]);
  });

  it('reads on once it closes, so that the answer to that is heard', () => {
    const { socket, stream } = opened(binaryFrames);
    socket.receive('unread');
    stream.fail(1001, '');
    assert.equal(socket.isPaused, false);
  });

  it('is broken off by dispose, unless it is over', () => {
    const { socket, stream } = opened(binaryFrames);
    stream.dispose();
    socket.emit('close', 1006, Buffer.alloc(0));
    stream.dispose();
    assert.deepEqual(socket.closes, ['terminated']);
  });

  it('speaks base64 with clients that only have text', async () => {
    const { socket, stream } = opened(base64Frames);
    await stream.write(Buffer.from('ping'));
    socket.receive('cG9uZw==', false);
    socket.emit('close', 1000, Buffer.alloc(0));
    assert.deepEqual(socket.sent, ['cGluZw==']);
    assert.deepEqual(await all(stream), ['pong']);
  });
});
