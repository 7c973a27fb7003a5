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
  /** Whether the process has ended, soon after its connection has broken. */
  readonly hasEnded: () => Promise<boolean>;
  readonly onDispose: () => void;
}

/** A process in a container, at the other end of a connection that the engine has given away. */
export function processConnection(parts: ConnectionParts): ContainerProcess {
  const { socket, hasTerminal } = parts;
  // What broke it is told by the iteration; an event without a listener would end this process.
  socket.on('error', () => undefined);
  let isDisposed = false;
  return {
    output: wholeOutput(hasTerminal ? terminalOutput(socket) : framesOf(socket), async () => {
      return isDisposed || (await parts.hasEnded());
    }),
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

/** What podman says when a process ends that has not read all of its input. */
const unreadInput = /^Error: (read|write) unixpacket .*: (connection reset by peer|broken pipe)\s*$/;

/** A process that ends before it has read all of its input breaks the connection; that is an end like any other. */
async function* wholeOutput(
  items: AsyncIterable<ProcessOutput>,
  isOver: () => Promise<boolean>,
): AsyncGenerator<ProcessOutput> {
  let last: ProcessOutput | undefined;
  try {
    for await (const item of items) {
      if (last) yield last;
      last = isAboutInput(item) ? item : undefined;
      if (!last) yield item;
    }
  } catch (error) {
    if (!(await isOver())) throw error;
  }
}

/** It is held back: if it comes last, it was said by podman, not by the process. */
function isAboutInput({ stream, bytes }: ProcessOutput): boolean {
  return stream === 'stderr' && bytes.length < 500 && unreadInput.test(Buffer.from(bytes).toString());
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
