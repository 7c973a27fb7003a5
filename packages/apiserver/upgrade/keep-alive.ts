import { type Clock, type Disposable, disposable } from '@sheaf/base';
import type { WebSocket } from 'ws';

const pingMs = 10_000;
/** A client that has not been heard of for so long is gone. */
const silenceMs = 60_000;

/** Pings a client, so that what is between keeps the connection, and ends a connection that nobody answers on. */
export function keepAlive(socket: WebSocket, clock: Clock): Disposable {
  let heardAt = clock.monotonic();
  const hear = (): void => {
    heardAt = clock.monotonic();
  };
  for (const event of ['pong', 'ping', 'message'] as const) socket.on(event, hear);
  let timer = clock.schedule(pingMs, beat);
  function beat(): void {
    // While it is paused by us, it cannot be heard, and its own pings are not answered: this is what it waits for.
    if (socket.isPaused) {
      hear();
      socket.pong();
    }
    if (clock.monotonic() - heardAt >= silenceMs) return socket.terminate();
    socket.ping();
    timer = clock.schedule(pingMs, beat);
  }
  return disposable(() => timer.dispose());
}
