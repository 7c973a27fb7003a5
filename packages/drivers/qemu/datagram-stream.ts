import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { ItemQueue } from '@sheaf/base';
import type { ByteStream } from '@sheaf/ports';

/** What may wait for a slow reader; what comes then is lost, as any message of UDP can be. */
const waitingBytes = 256 * 1024;
/** Of UDP over IPv4. */
const longestMessage = 65_507;

/** Messages of UDP to and from a port of the host's loopback, each a chunk of its own. Ends when nobody takes them there. */
export async function datagramStream(hostPort: number): Promise<ByteStream> {
  const socket = createSocket('udp4');
  socket.connect(hostPort, '127.0.0.1');
  await once(socket, 'connect');
  const messages = new ItemQueue<Uint8Array>(() => undefined);
  let waiting = 0;
  let isOver = false;
  const end = (failure?: Error): void => {
    if (isOver) return;
    isOver = true;
    messages.end(failure);
    socket.close();
  };
  socket.on('error', (error) => end(unreached(error)));
  socket.on('message', (message) => {
    if (waiting + message.length > waitingBytes) return;
    waiting += message.length;
    messages.push(message);
  });
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const message of messages.items()) {
      waiting -= message.length;
      yield message;
    }
  }
  return {
    readable: read(),
    write: async (bytes) => {
      if (isOver) throw new Error('the stream has ended: open it again');
      await send(socket, bytes);
    },
    dispose: () => end(),
  };
}

async function send(socket: Socket, bytes: Uint8Array): Promise<void> {
  if (bytes.length > longestMessage)
    throw new Error(
      `a message of UDP has at most ${longestMessage} bytes: send these ${bytes.length} in parts`,
    );
  await new Promise<void>((resolve, reject) => {
    socket.send(bytes, (error) => (error ? reject(unreached(error)) : resolve()));
  });
}

function unreached(cause: Error): Error {
  const words = 'nothing takes messages at that port: see whether the machine runs, and its service';
  return new Error(`${words} (${cause.message})`, { cause });
}
