import type { Socket } from 'node:net';
import { type Clock, sleep } from '@sheaf/base';
import type { ByteStream } from '@sheaf/ports';

/** A connection as a stream of bytes; ends with it. */
export function socketStream(socket: Socket): ByteStream {
  // What broke it is told by the iteration; an event without a listener would end this process.
  socket.on('error', () => undefined);
  return {
    readable: socket,
    write: (bytes) => writeTo(socket, bytes),
    dispose: () => socket.destroy(),
  };
}

/** Resolves when the bytes have been handed over. */
export function writeTo(socket: Socket, bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Rejects with `words` after `limitMs`; what `promise` does later is nobody's concern. */
export async function within<T>(
  promise: Promise<T>,
  limit: { readonly clock: Clock; readonly limitMs: number; readonly words: string },
): Promise<T> {
  const controller = new AbortController();
  const timeout = sleep(limit.clock, limit.limitMs, controller.signal).then(
    () => Promise.reject(new Error(limit.words)),
    () => promise,
  );
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    controller.abort();
    timeout.catch(() => undefined);
  }
}
