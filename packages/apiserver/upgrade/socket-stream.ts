import type { Socket } from 'node:net';
import type { ByteStream } from '@sheaf/base';
import { drained } from '../http/drained.ts';

/** A connection that HTTP has let go of. `head`: what had come on it already. */
export function socketStream(socket: Socket, head: Uint8Array): ByteStream {
  // What breaks it is told by the iteration; an event without a listener would end this process.
  socket.on('error', ignore);
  if (head.length > 0) socket.unshift(head);
  return {
    readable: socket as AsyncIterable<Uint8Array>,
    async write(bytes) {
      if (socket.destroyed || socket.writableEnded) throw new Error('the connection is over');
      socket.write(bytes);
      await drained(socket);
    },
    end: () =>
      new Promise((resolve) => {
        socket.end(resolve);
      }),
    dispose: () => socket.destroy(),
  };
}

function ignore(): void {
  // The one who reads hears of it.
}
