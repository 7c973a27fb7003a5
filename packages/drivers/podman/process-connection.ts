import type { Socket } from 'node:net';
import type { ContainerProcess, ProcessOutput, TerminalSize } from '@sheaf/ports';
import { writeTo } from '../qemu/socket-stream.ts';
import { framesOf } from './stream-frames.ts';

export interface ConnectionParts {
  readonly socket: Socket;
  readonly hasTerminal: boolean;
  readonly hasInput: boolean;
  readonly resize: (size: TerminalSize) => Promise<void>;
  readonly exitCode: (signal: AbortSignal) => Promise<number>;
  readonly onDispose: () => void;
}

/** A process in a container, at the other end of a connection that the engine has given away. */
export function processConnection(parts: ConnectionParts): ContainerProcess {
  const { socket, hasTerminal } = parts;
  // What broke it is told by the iteration; an event without a listener would end this process.
  socket.on('error', () => undefined);
  let isDisposed = false;
  return {
    output: quietly(hasTerminal ? terminalOutput(socket) : framesOf(socket), () => isDisposed),
    async write(bytes) {
      if (!parts.hasInput) throw new Error('the process has no input: start it with one');
      await writeTo(socket, bytes);
    },
    endInput: () =>
      new Promise((resolve) => {
        socket.end(resolve);
      }),
    resize: async (size) => {
      if (hasTerminal) await parts.resize(size);
    },
    exitCode: (signal) => parts.exitCode(signal),
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      socket.destroy();
      parts.onDispose();
    },
  };
}

async function* terminalOutput(socket: Socket): AsyncGenerator<ProcessOutput> {
  for await (const bytes of socket as AsyncIterable<Buffer>) yield { stream: 'stdout', bytes };
}

/** Whoever lets go of a stream while it reads sees its end. */
export async function* quietly<T>(items: AsyncIterable<T>, isDisposed: () => boolean): AsyncGenerator<T> {
  try {
    for await (const item of items) yield item;
  } catch (error) {
    if (!isDisposed()) throw error;
  }
}
