import { connect, type Socket } from 'node:net';
import { type ByteStream, StatusError, toError } from '@sheaf/base';
import { writeTo } from '../qemu/socket-stream.ts';
import { connected } from '../qemu/unix-socket.ts';
import type { PortConnectors } from './port-connectors.ts';
import { quietly } from './process-connection.ts';

/** Connects to a port as `localhost` inside a network; on the host's own, if no network is given. */
export async function connectPort(
  target: { readonly networkPath: string | undefined; readonly port: number },
  connectors: PortConnectors,
): Promise<ByteStream> {
  const { networkPath, port } = target;
  try {
    const socket =
      networkPath === undefined
        ? await connected(connect({ host: '127.0.0.1', port, allowHalfOpen: true }))
        : await connectors.connect(networkPath, port);
    socket.allowHalfOpen = true;
    return portStream(socket);
  } catch (error) {
    throw new StatusError({
      reason: 'ServiceUnavailable',
      message: `port ${port} of the sandbox cannot be reached: ${toError(error).message}`,
    });
  }
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
