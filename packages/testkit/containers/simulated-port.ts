import { type ByteStream, ItemQueue, StatusError } from '@sheaf/base';
import type { SimulatedSandbox } from './simulated-sandbox.ts';

/** A connection to who listens there: it answers the first request with the name of its host, and ends. */
export function openSimulatedPort(sandbox: SimulatedSandbox, port: number): ByteStream {
  if (sandbox.listeners.get(port)?.state !== 'running')
    throw new StatusError({
      reason: 'ServiceUnavailable',
      message: `port ${port} of the sandbox cannot be reached: connection refused`,
    });
  const queue = new ItemQueue<Uint8Array>(() => undefined);
  const body = `${sandbox.spec.hostname}\n`;
  let asked = '';
  return {
    readable: queue.items(),
    write(bytes) {
      asked += new TextDecoder().decode(bytes);
      if (asked.includes('\r\n\r\n')) {
        const answer = `HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
        queue.push(new TextEncoder().encode(answer));
        queue.end();
      }
      return Promise.resolve();
    },
    end: () => Promise.resolve(),
    dispose: () => queue.end(),
  };
}
