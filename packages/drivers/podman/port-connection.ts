import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type ByteStream, StatusError, toError } from '@sheaf/base';
import { writeTo } from '../qemu/socket-stream.ts';
import { connected } from '../qemu/unix-socket.ts';
import { quietly } from './process-connection.ts';

const connector = fileURLToPath(new URL('./port-connector.ts', import.meta.url));

interface Answer {
  readonly isConnected: boolean;
  readonly words?: string;
}

/** Connects to a port as `localhost` inside a network; on the host's own, if no network is given. */
export async function connectPort(
  target: { readonly networkPath: string | undefined; readonly port: number },
  limitMs: number,
): Promise<ByteStream> {
  const { networkPath, port } = target;
  try {
    const socket =
      networkPath === undefined
        ? await connected(connect({ host: '127.0.0.1', port, allowHalfOpen: true }))
        : await connectWithin(networkPath, { port, limitMs });
    return portStream(socket);
  } catch (error) {
    throw new StatusError({
      reason: 'ServiceUnavailable',
      message: `port ${port} of the sandbox cannot be reached: ${toError(error).message}`,
    });
  }
}

function connectWithin(
  networkPath: string,
  { port, limitMs }: { readonly port: number; readonly limitMs: number },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const child = spawn('nsenter', [`--net=${networkPath}`, process.execPath, connector, String(port)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
    });
    let words = '';
    child.stderr?.on('data', (bytes: Buffer) => {
      words += bytes.toString();
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(words.trim().split('\n')[0] || `not within ${limitMs} ms`)));
    child.once('message', (message, handle) => {
      const answer = message as Answer;
      if (!answer.isConnected || !handle) {
        reject(new Error(answer.words ?? 'the connection did not come'));
        return;
      }
      const socket = handle as Socket;
      socket.allowHalfOpen = true;
      resolve(socket);
    });
  });
}

function portStream(socket: Socket): ByteStream {
  socket.on('error', () => undefined);
  return {
    readable: quietly(socket as AsyncIterable<Buffer>, () => socket.destroyed && !socket.errored),
    write: (bytes) => writeTo(socket, bytes),
    end: () =>
      new Promise((resolve) => {
        socket.end(resolve);
      }),
    dispose: () => socket.destroy(),
  };
}
